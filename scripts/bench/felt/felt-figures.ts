import { digits } from '../figures/amount.ts'
import type { Figure } from '../figures/figure.ts'
import { plainFigure } from '../figures/plain-figure.ts'
import { quantile } from '../figures/quantile.ts'
import { ratioFigure } from '../figures/ratio-figure.ts'
import type { FeltKind, FeltTimes } from './felt-load.ts'

/** What the clients felt in one setting. */
export interface FeltSetting extends FeltTimes {
  /** `alone`, or what went on beside them. */
  readonly name: string
  /** The longest that `/health` left anybody waiting, in milliseconds. */
  readonly silence: number
  /** How often each neighbour's work was done, by its name. */
  readonly done: Readonly<Record<string, number>>
}

/** A 99th percentile beside others is at most so many times that of alone … */
const MOST_TIMES = 8
/** … and `/health` is silent for at most so many milliseconds, or so many times as long as alone where that is more. */
const MOST_SILENCE_MS = 100
const MOST_SILENCE_TIMES = 1.5

const GOALS: readonly FeltKind[] = ['retrieve', 'commit']

/** A figure for each goal. */
export function feltFigures(alone: FeltSetting, beside: readonly FeltSetting[]): Figure[] {
  const most = Math.max(MOST_SILENCE_MS, MOST_SILENCE_TIMES * alone.silence)
  return beside.flatMap((setting) => [
    ...GOALS.map((kind) =>
      ratioFigure({
        work: `a ${kind} beside ${setting.name}, the 99th percentile, against alone`,
        as: '×',
        ours: [quantile(setting.times[kind], 0.99)],
        floor: [quantile(alone.times[kind], 0.99)],
        unit: 'ms',
        goal: { is: '≤', value: MOST_TIMES },
      }),
    ),
    plainFigure({
      work: `the longest silence of /health beside ${setting.name}`,
      rounds: [setting.silence],
      unit: 'ms',
      goal: { is: '≤', value: most },
      note: `alone ${digits(alone.silence)} ms`,
    }),
    plainFigure({
      work: `requests that were refused beside ${setting.name}`,
      rounds: [setting.refused.length],
      unit: '',
      goal: { is: '≤', value: 0 },
      note: setting.refused[0]?.slice(0, 120),
    }),
  ])
}

/** A table of all kinds of requests in all settings, with ratios to alone, and whether the goals of each setting hold. */
export function feltTable(alone: FeltSetting, beside: readonly FeltSetting[]): string {
  const heads = ['asked', 'setting', 'requests', 'median', '× alone', '99th percentile', '× alone', 'goal']
  const settings = [alone, ...beside]
  // Object.keys forgets which keys it is given
  const kinds = Object.keys(alone.times) as FeltKind[]
  const rows = kinds.flatMap((kind) =>
    settings.map((setting) => {
      const [median, late] = [0.5, 0.99].map((share) => {
        const value = quantile(setting.times[kind], share)
        return { value, times: value / quantile(alone.times[kind], share) }
      }) as [Part, Part]
      const isJudged = setting !== alone && GOALS.includes(kind)
      const goal = late.times <= MOST_TIMES ? 'holds' : '**missed**'
      return [
        kind,
        setting.name,
        String(setting.times[kind].length),
        ...[median, late].flatMap(({ value, times }) => [`${digits(value)} ms`, digits(times)]),
        isJudged ? goal : '',
      ]
    }),
  )
  const most = Math.max(MOST_SILENCE_MS, MOST_SILENCE_TIMES * alone.silence)
  const silences = settings.map((setting) => [
    '/health, the longest silence',
    setting.name,
    '',
    '',
    '',
    `${digits(setting.silence)} ms`,
    digits(setting.silence / alone.silence),
    setting === alone ? '' : setting.silence <= most ? 'holds' : '**missed**',
  ])
  const lines = [heads, heads.map(() => '---'), ...rows, ...silences]
  const table = lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
  const done = beside.map(({ name, done: counts }) => `Beside ${name}: ${countsOf(counts)}.\n`).join('')
  return `${table}\n${done}`
}

interface Part {
  readonly value: number
  readonly times: number
}

function countsOf(done: Readonly<Record<string, number>>): string {
  return Object.entries(done)
    .map(([name, count]) => `${name} ${count} times`)
    .join(', ')
}
