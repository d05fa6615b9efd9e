import { parseArgs } from 'node:util'
import { UsageError } from '../../src/cli/command/usage-error.ts'
import type { BenchSetting } from './bench-setting.ts'

/** The parts of the bench, in the order in which they run. */
export const SECTIONS = [
  'commits',
  'reads',
  'history',
  'artifacts',
  'index',
  'texts',
  'testsets',
  'upkeep',
  'invocations',
  'evaluations',
  'web',
  'servers',
  'pairs',
  'traces',
  'turns',
  'felt',
] as const

export type Section = (typeof SECTIONS)[number]

/** The sizes of a run, its sections, and the files that keep it and that it is compared with. */
export interface BenchOptions extends Omit<BenchSetting, 'folder' | 'add'> {
  readonly help: boolean
  readonly only: readonly Section[]
  readonly json: string | undefined
  readonly compare: string | undefined
  /** A built checkout whose server is measured; absent, this one's. */
  readonly tree: string | undefined
}

export const BENCH_USAGE = `Measures each figure beside its floor in the same run, in alternating rounds after a warm-up, and prints a table. They are to be
read, not tests: it ends with 0 whatever they are.

  npm run bench -- [--only SECTION,…] [--json FILE] [--compare OLD.json] [--rounds N] [--seconds N]
                   [--artifacts N,…] [--indexed N] [--rows N] [--most-rows N] [--evaluated-rows N]
                   [--turn-bytes N,…] [--turn-rows N] [--turn-routes TEXT]
                   [--felt-seconds N] [--tree DIR]

  --only            of ${SECTIONS.join(', ')}
  --json            keeps the figures, and which machine and commit they are of
  --compare         shows beside each figure what it is in a file that --json wrote
  --rounds          that count (5)
  --seconds         that a round of requests takes (3)
  --artifacts       of the large stores, from few to many (10000); 10000,100000 also shows how they grow
  --indexed         of the store whose index is measured (2000)
  --rows            of the large testset (200000)
  --most-rows       of the largest (1000000)
  --evaluated-rows  of the one that is evaluated (10000)
  --turn-bytes      of the bodies of hostile shapes (65536,1048576,16777216)
  --turn-rows       of the testset beside them (300000)
  --turn-routes     only those that hold this text, such as "POST /services/invoke"`

/** Reads the arguments. Throws a UsageError that names what is wrong with which. */
export function readBenchOptions(args: readonly string[]): BenchOptions {
  const { help = false, only, json, compare, 'turn-routes': turnRoutes, tree, ...given } = parsed(args)
  const sizes = (name: keyof typeof DEFAULTS): number[] =>
    (given[name] ?? DEFAULTS[name]).split(',').map((text) => positive(name, text))
  const size = (name: keyof typeof DEFAULTS): number => positive(name, given[name] ?? DEFAULTS[name])
  return {
    help,
    json,
    compare,
    tree,
    only: only === undefined ? SECTIONS : [...new Set(only.split(',').map(section))],
    rounds: whole('rounds', size('rounds')),
    seconds: size('seconds'),
    artifacts: sizes('artifacts')
      .map((value) => whole('artifacts', value))
      .sort((a, b) => a - b),
    indexed: whole('indexed', size('indexed')),
    rows: whole('rows', size('rows')),
    mostRows: whole('most-rows', size('most-rows')),
    evaluatedRows: whole('evaluated-rows', size('evaluated-rows')),
    turnBytes: sizes('turn-bytes').map((value) => whole('turn-bytes', value)),
    turnRows: whole('turn-rows', size('turn-rows')),
    turnRoutes,
    feltSeconds: size('felt-seconds'),
  }
}

const DEFAULTS = {
  rounds: '5',
  seconds: '3',
  artifacts: '10000',
  indexed: '2000',
  rows: '200000',
  'most-rows': '1000000',
  'evaluated-rows': '10000',
  'turn-bytes': '65536,1048576,16777216',
  'turn-rows': '300000',
  'felt-seconds': '15',
} as const

function parsed(args: readonly string[]) {
  const text = { type: 'string' } as const
  const sizes = { rounds: text, seconds: text, artifacts: text, indexed: text, rows: text } as const
  const more = { 'most-rows': text, 'evaluated-rows': text } as const
  const help = { type: 'boolean', short: 'h' } as const
  try {
    const turns = { 'turn-bytes': text, 'turn-rows': text, 'turn-routes': text } as const
    const others = { 'felt-seconds': text, tree: text } as const
    const options = { ...sizes, ...more, ...turns, ...others, only: text, json: text, compare: text, help }
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError((error as Error).message, BENCH_USAGE) // parseArgs throws nothing but TypeErrors that say what is wrong
  }
}

function section(text: string): Section {
  const found = SECTIONS.find((name) => name === text)
  if (found !== undefined) return found
  throw new UsageError(`--only names "${text}"; there are ${SECTIONS.join(', ')}.`, BENCH_USAGE)
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (value > 0 && Number.isFinite(value)) return value
  throw new UsageError(`--${name} is "${text}"; give a number above 0.`, BENCH_USAGE)
}

function whole(name: string, value: number): number {
  if (Number.isInteger(value)) return value
  throw new UsageError(`--${name} is ${value}; give a whole number.`, BENCH_USAGE)
}
