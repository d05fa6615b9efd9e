import { fitLine } from './fit-line.ts'
import type { Measure } from '../measures.ts'
import { partOf } from '../part-of.ts'
import type { Sample } from '../sample.ts'

/** Where a measure was heading, in its own unit. */
export interface Trend {
  readonly perHour: number
  /** From the beginning of the second half to its end. */
  readonly growth: number
  /** The two ends of the line: seconds and values. */
  readonly line: readonly [readonly [x: number, y: number], readonly [x: number, y: number]]
}

/** The straight line through the second half, by least squares. */
export function trendOf(samples: readonly Sample[], { of }: Measure): Trend {
  const half = partOf(samples, 0.5, 1)
  const { slope, at } = fitLine(half.map((sample) => [sample.at, of(sample)]))
  const [from, to] = [half[0]?.at ?? 0, half.at(-1)?.at ?? 0]
  return {
    perHour: slope * 3600,
    growth: at(to) - at(from),
    line: [
      [from, at(from)],
      [to, at(to)],
    ],
  }
}
