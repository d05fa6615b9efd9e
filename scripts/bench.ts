import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type BenchSetting, type Figure, figureTable, progress } from './bench/figures.ts'
import { measureArtifacts } from './bench/measure-artifacts.ts'
import { measureCommits } from './bench/measure-commits.ts'
import { measureEvaluations } from './bench/measure-evaluations.ts'
import { measureHistory } from './bench/measure-history.ts'
import { measureInvocations } from './bench/measure-invocations.ts'
import { measureTestsets } from './bench/measure-testsets.ts'
import { measureUpkeep } from './bench/measure-upkeep.ts'

/**
 * `npm run bench`: the figures of the README, each measured beside its floor in the same run, in alternating rounds. They are
 * ratios, to be read, not tests. `--only commits,history,artifacts,testsets,upkeep,invocations,evaluations` chooses sections,
 * `--rounds N` how often they alternate, `--artifacts N` the size of the large store, `--rows N` and `--most-rows N` those of the
 * large testsets, `--evaluated-rows N` that of the evaluated one; `--json FILE` keeps the figures.
 */
const SECTIONS: ReadonlyMap<string, (setting: BenchSetting) => Promise<void>> = new Map([
  ['commits', measureCommits],
  ['history', measureHistory],
  ['artifacts', measureArtifacts],
  ['testsets', measureTestsets],
  ['upkeep', measureUpkeep],
  ['invocations', measureInvocations],
  ['evaluations', measureEvaluations],
])

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: [...SECTIONS.keys()].join(',') },
    rounds: { type: 'string', default: '5' },
    artifacts: { type: 'string', default: '10000' },
    rows: { type: 'string', default: '200000' },
    'most-rows': { type: 'string', default: '1000000' },
    'evaluated-rows': { type: 'string', default: '10000' },
    json: { type: 'string' },
  },
})
const sections = options.only.split(',').map((name) => {
  const section = SECTIONS.get(name)
  if (section) return section
  throw new TypeError(`--only names ${JSON.stringify(name)}; there are ${[...SECTIONS.keys()].join(', ')}.`)
})
const figures: Figure[] = []
const setting: BenchSetting = {
  folder: mkdtempSync(join(tmpdir(), 'branchpoint-bench-')),
  rounds: Number(options.rounds),
  artifacts: Number(options.artifacts),
  rows: Number(options.rows),
  mostRows: Number(options['most-rows']),
  evaluatedRows: Number(options['evaluated-rows']),
  add: (work, figure, goal, met) => {
    figures.push({ work, figure, goal, met })
    progress('')
    process.stderr.write(`  ${met ? 'met ' : 'MISS'}  ${work}: ${figure} (goal ${goal})\n`)
  },
}

try {
  for (const measure of sections) await measure(setting)
} finally {
  rmSync(setting.folder, { recursive: true, force: true })
}
process.stdout.write(figureTable(figures))
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(figures, undefined, 2)}\n`)
