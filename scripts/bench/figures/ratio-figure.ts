import type { Figure, Goal } from './figure.ts'
import { median } from './median.ts'
import { meets } from './meets.ts'
import { spreadOf } from './spread-of.ts'

/** What alternating rounds gave, ours and the floor's, in `unit`; `as` says how the ratio is written. */
export interface RatioRounds {
  readonly work: string
  readonly as: '×' | '%'
  readonly ours: readonly number[]
  readonly floor: readonly number[]
  readonly unit: string
  readonly goal: Goal
  readonly note?: string
}

/**
 * Ours to the floor's: the ratio of the medians. Its spread is that of the rounds' own ratios, since what slows the machine
 * for a while slows both of a round; the ratio of the medians always lies within. Throws if there are not as many of both.
 */
export function ratioFigure({ work, as, ours, floor, unit, goal, note }: RatioRounds): Figure {
  if (ours.length !== floor.length)
    throw new RangeError(`${ours.length} rounds against ${floor.length}: ${work}`)
  const scale = as === '%' ? 100 : 1
  const against = { ours: median(ours), floor: median(floor), unit }
  const value = (scale * against.ours) / against.floor
  const spread = spreadOf(ours.map((round, index) => (scale * round) / (floor[index] ?? Number.NaN)))
  return { work, value, unit: as, spread, against, goal, met: meets(value, goal), note }
}
