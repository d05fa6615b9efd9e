import { median } from '../../bench/figures/median.ts'
import type { Measure } from './measures.ts'
import type { Sample } from './sample.ts'

/** The median of a measure from one part of the time to another, each from 0 to 1; NaN where there is no sample. */
export function typical(samples: readonly Sample[], { of }: Measure, from: number, to: number): number {
  const end = samples.at(-1)?.at ?? 0
  return median(samples.filter(({ at }) => at > from * end && at <= to * end).map(of))
}
