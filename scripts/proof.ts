import { parseArgs } from 'node:util'
import { progress } from './bench/progress.ts'
import { isExpected } from '../src/cli/command/is-expected.ts'
import { textTable } from '../src/cli/command/text-table.ts'
import { UsageError } from '../src/cli/command/usage-error.ts'
import { testUnder } from './proofs/test-under.ts'

/** What is supported: the releases of Node that are maintained. */
const VERSIONS = ['20', '22', '24']

const USAGE = `Runs the test suite under several versions of Node, one after the other, each brought by npm into a temporary folder.

  npm run proof -- nodes [--node VERSION]… [SPEC…]

  VERSION   as npm understands it: 22, 24.1.0 (${VERSIONS.join(', ')} unless given)
  SPEC      files of the suite (all unless given): dist/test/storage/lock-file.test.js

Prints how each went, and what failed. Ends with 1 if anything did.`

try {
  await run(process.argv.slice(2))
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { node: { type: 'string', multiple: true }, help: { type: 'boolean', default: false } },
    allowPositionals: true,
  })
  const [command, ...specs] = positionals
  if (values.help) return void process.stdout.write(`${USAGE}\n`)
  if (command !== 'nodes') throw new UsageError(`There is no proof ${JSON.stringify(command ?? '')}.`, USAGE)
  const lines = [['node', 'passed', 'failed', 'skipped', 'seconds']]
  for (const version of values.node ?? VERSIONS) {
    const { node, passed, failures, skipped, seconds } = await whileSaying(version, testUnder(version, specs))
    lines.push([node, `${passed}`, `${failures.length}`, `${skipped}`, `${Math.round(seconds)}`])
    for (const failure of failures) process.stdout.write(`${node}: ${failure}\n`)
    if (failures.length > 0) process.exitCode = 1
  }
  process.stdout.write(`${textTable(lines)}\n`)
}

/** Says every second on standard error how long the suite has run: it tells what it found only at its end. */
async function whileSaying<T>(version: string, work: Promise<T>): Promise<T> {
  const began = performance.now()
  const timer = setInterval(() => {
    const minutes = (performance.now() - began) / 60_000
    progress(
      `Node ${version}: the suite has run for ${minutes.toFixed(1)} minutes; all of it takes some twelve`,
    )
  }, 1000)
  try {
    return await work
  } finally {
    clearInterval(timer)
    progress('')
  }
}
