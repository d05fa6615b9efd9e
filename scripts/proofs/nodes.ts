import { delimiter, dirname, join } from 'node:path'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { spawn, spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { UsageError } from '../../src/cli/command/usage-error.ts'
import { progress } from '../bench/progress.ts'
import { textTable } from '../../src/cli/command/text-table.ts'

/** What is supported: the releases of Node that are maintained. */
const VERSIONS = ['20', '22', '24']

const USAGE = `Runs the test suite under several versions of Node, one after the other, each brought by npm into a temporary folder.

  npm run proof -- nodes [--node VERSION]… [SPEC…]

  VERSION   as npm understands it: 22, 24.1.0 (${VERSIONS.join(', ')} unless given)
  SPEC      files of the suite (all unless given): dist/test/storage/lock-file.test.js

Prints how each went, and what failed. Ends with 1 if anything did.`

const MOCHA = 'node_modules/mocha/bin/mocha.js'
const BARE = ['--require', './dist/test/test-settings.js', '--timeout', '180000']

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

interface SuiteResult {
  /** The version that it was, in full. */
  readonly node: string
  readonly passed: number
  readonly skipped: number
  /** The name of each test that failed, with what it said. */
  readonly failures: readonly string[]
  readonly seconds: number
}

/** The part of mocha's report that is looked at. */
interface Report {
  readonly stats: { readonly passes: number; readonly pending: number; readonly duration: number }
  readonly failures: readonly { readonly fullTitle: string; readonly err: { readonly message?: string } }[]
}

/**
 * Runs the suite, or these files of it, in this folder under a version of Node that npm brings into a temporary folder; the programs
 * that tests start run under it, too.
 */
async function testUnder(version: string, specs: readonly string[]): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-node-'))
  try {
    const node = install(version, folder)
    const report = join(folder, 'report.json')
    // Of a configuration file's specs and those that are named mocha takes both.
    const files = specs.length > 0 ? ['--no-config', ...BARE, ...specs] : []
    const options = ['--reporter', 'json', '--reporter-option', `output=${report}`]
    const child = spawn(node, ['--enable-source-maps', MOCHA, ...options, ...files], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, TESTS: 'all', PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` },
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (!existsSync(report))
      throw new Error(`mocha ended with ${code} under Node ${version} before it reported`)
    const { stats, failures } = JSON.parse(readFileSync(report, 'utf8')) as Report
    return {
      node: spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim(),
      passed: stats.passes,
      skipped: stats.pending,
      failures: failures.map(({ fullTitle, err }) => `${fullTitle}: ${err.message ?? 'it says nothing'}`),
      seconds: stats.duration / 1000,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Answers the path of the program. */
function install(version: string, folder: string): string {
  const { status, stderr } = spawnSync(
    'npm',
    ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `node@${version}`],
    { encoding: 'utf8' },
  )
  const node = join(folder, 'node_modules/node/bin/node')
  if (status === 0 && existsSync(node)) return node
  throw new UsageError(`npm could not bring Node ${version}:`, stderr)
}
