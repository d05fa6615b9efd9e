import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { amount } from './bench/figures/amount.ts'
import { BENCH_USAGE, type BenchOptions, readBenchOptions, type Section } from './bench/bench-options.ts'
import type { BenchSetting } from './bench/bench-setting.ts'
import { endServers, measureTree } from '../test/support/servers/child-server.ts'
import { compareFigures } from './bench/figures/compare-figures.ts'
import type { Figure } from './bench/figures/figure.ts'
import { figureTable } from './bench/figures/figure-table.ts'
import { thisMachine } from './bench/machine.ts'
import { measureArtifacts } from './bench/measures/measure-artifacts.ts'
import { measureCommits } from './bench/measures/measure-commits.ts'
import { measureEvaluations } from './bench/measures/measure-evaluations.ts'
import { measureFelt } from './bench/measures/measure-felt.ts'
import { measureHistory } from './bench/measures/measure-history.ts'
import { measureIndex } from './bench/measures/measure-index.ts'
import { measureInvocations } from './bench/measures/measure-invocations.ts'
import { measurePairs } from './bench/measures/measure-pairs.ts'
import { measureReads } from './bench/measures/measure-reads.ts'
import { measureServers } from './bench/measures/measure-servers.ts'
import { measureTestsets } from './bench/measures/measure-testsets.ts'
import { measureTexts } from './bench/measures/measure-texts.ts'
import { measureTraces } from './bench/measures/measure-traces.ts'
import { measureTurns } from './bench/measures/measure-turns.ts'
import { measureUpkeep } from './bench/measures/measure-upkeep.ts'
import { measureWeb } from './bench/measures/measure-web.ts'
import { progress } from './bench/progress.ts'
import { readReport, type Report } from './bench/figures/report.ts'
import { isExpected } from '../src/cli/command/is-expected.ts'

/** `npm run bench`: the figures of the README; `--help` says what may be chosen. */
const MEASURES: Readonly<Record<Section, (setting: BenchSetting) => Promise<void>>> = {
  commits: measureCommits,
  reads: measureReads,
  history: measureHistory,
  artifacts: measureArtifacts,
  index: measureIndex,
  texts: measureTexts,
  testsets: measureTestsets,
  upkeep: measureUpkeep,
  invocations: measureInvocations,
  evaluations: measureEvaluations,
  web: measureWeb,
  servers: measureServers,
  pairs: measurePairs,
  traces: measureTraces,
  turns: measureTurns,
  felt: measureFelt,
}

try {
  const options = readBenchOptions(process.argv.slice(2))
  if (options.help) process.stdout.write(`${BENCH_USAGE}\n`)
  else await bench(options)
} catch (error) {
  if (!isExpected(error)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function bench(options: BenchOptions): Promise<void> {
  // A file that cannot be compared with is to be told of before the bench runs for minutes.
  const before = options.compare === undefined ? undefined : readReport(options.compare, BENCH_USAGE)
  if (options.tree !== undefined) measureTree(options.tree, BENCH_USAGE)
  const report: Report = { machine: thisMachine(options.tree), figures: await measure(options) }
  const comparison = before && compareFigures(before.figures, report.figures)
  process.stdout.write(figureTable(report.figures, comparison))
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(report, undefined, 2)}\n`)
}

async function measure(options: BenchOptions): Promise<Figure[]> {
  const figures = new Map<string, Figure>()
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-bench-'))
  const add = (figure: Figure): void => {
    if (figures.has(figure.work)) throw new Error(`two figures are called ${figure.work}`)
    figures.set(figure.work, figure)
    tell(figure)
  }
  try {
    for (const section of options.only) await MEASURES[section]({ ...options, folder, add })
  } finally {
    await endServers()
    rmSync(folder, { recursive: true, force: true })
  }
  return [...figures.values()]
}

function tell({ work, value, unit, goal, met }: Figure): void {
  progress('')
  const wanted = `${goal.is} ${amount(goal.value, unit)}`
  process.stderr.write(`  ${met ? 'met ' : 'MISS'}  ${work}: ${amount(value, unit)} (goal ${wanted})\n`)
}
