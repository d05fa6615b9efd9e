import { parseArgs } from 'node:util'
import { progress } from '../bench/progress.ts'
import { textTable } from '../../src/cli/command/text-table.ts'
import { testUnder } from './test-under.ts'

/** What is supported: the releases of Node that are maintained. */
const VERSIONS = ['20', '22', '24']

const USAGE = `Runs the test suite under several versions of Node, one after the other, each brought by npm into a temporary folder.

  npm run proof -- nodes [--node VERSION]… [SPEC…]

  VERSION   as npm understands it: 22, 24.1.0 (${VERSIONS.join(', ')} unless given)
  SPEC      files of the suite (all unless given): dist/test/storage/lock-file.test.js

Prints how each went, and what failed. Ends with 1 if anything did.`

const { values, positionals: specs } = parseArgs({
  options: { node: { type: 'string', multiple: true }, help: { type: 'boolean', default: false } },
  allowPositionals: true,
})

if (values.help) process.stdout.write(`${USAGE}\n`)
else await prove(values.node ?? VERSIONS)

async function prove(versions: readonly string[]): Promise<void> {
  const lines = [['node', 'passed', 'failed', 'skipped', 'seconds']]
  for (const version of versions) {
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
