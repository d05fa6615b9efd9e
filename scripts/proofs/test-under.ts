import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { UsageError } from '../../src/cli/command/usage-error.ts'

export interface SuiteResult {
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

const MOCHA = 'node_modules/mocha/bin/mocha.js'

/**
 * Runs the suite, or these files of it, in this folder under a version of Node that npm brings into a temporary folder; the programs
 * that tests start run under it, too.
 */
export async function testUnder(version: string, specs: readonly string[]): Promise<SuiteResult> {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-node-'))
  try {
    const node = install(version, folder)
    const report = join(folder, 'report.json')
    // Of a configuration file's specs and those that are named mocha takes both.
    const files = specs.length > 0 ? ['--no-config', ...BARE, ...specs] : []
    const options = ['--reporter', 'json', '--reporter-option', `output=${report}`]
    const child = spawn(node, ['--enable-source-maps', MOCHA, ...options, ...files], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env['PATH'] ?? ''}` },
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

const BARE = ['--require', './dist/test/test-settings.js', '--timeout', '180000']

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
