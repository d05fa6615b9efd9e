import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withGeneratedPart } from './docs/generated-part.ts'
import { longerWays } from './ways/longer-ways.ts'
import { measureWays } from './ways/measure-ways.ts'
import { sourceHash } from './ways/source-hash.ts'
import { figuresIn, hashIn, waysPage, waysPart } from './ways/ways-page.ts'

/**
 * Measures what runs in a server for each of the fixed requests (`npm run ways`), and writes it to docs/architecture.md and docs/ways.md. With
 * `--check` it writes nothing, and exits with 1 where a way is longer than its figures there; it does not measure where the source is what it
 * was when they were measured, unless it is told to with `--always`.
 */
const ARCHITECTURE = 'docs/architecture.md'
const { values } = parseArgs({ options: { check: { type: 'boolean' }, always: { type: 'boolean' } } })
const hash = sourceHash()
const page = readFileSync(ARCHITECTURE, 'utf8')
const say = (sentence: string): boolean => process.stderr.write(`${sentence}\n`)

if (values.check && !values.always && hashIn(page) === hash) {
  say('the ways: the source is what it was when they were measured')
} else if (values.check) {
  if (!values.always)
    say('the ways: the source has changed since they were measured; they are measured anew, in two minutes')
  const measured = async () => longerWays(figuresIn(page), await measureWays(say, { ordered: false }))
  let longer = await measured()
  if (longer.length > 0) {
    // On a busy machine a request may meet what one before it left to be done. A way that has become longer is longer each time.
    for (const sentence of longer) say(sentence)
    say('they are measured once more, since a busy machine can make a way longer')
    longer = await measured()
  }
  for (const sentence of longer) process.stdout.write(`${sentence}\n`)
  process.exitCode = longer.length > 0 ? 1 : 0
} else {
  const ways = await measureWays(say, { ordered: true })
  writeFileSync(ARCHITECTURE, await withGeneratedPart(ARCHITECTURE, page, waysPart(ways, hash), 'ways'))
  writeFileSync('docs/ways.md', await waysPage(ways))
  say(`${ARCHITECTURE} and docs/ways.md are written`)
}
