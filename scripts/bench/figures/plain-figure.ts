import type { Figure, Goal } from './figure.ts'
import { median } from './median.ts'
import { meets } from './meets.ts'
import { spreadOf } from './spread-of.ts'

/** What rounds gave by themselves, in `unit`; of `judged: 'worst'` the farthest from the goal counts, else the median. */
export interface PlainRounds {
  readonly work: string
  readonly rounds: readonly number[]
  readonly unit: string
  readonly goal: Goal
  readonly judged?: 'worst'
  readonly note?: string
}

/** A time, size or rate that has no floor. */
export function plainFigure({ work, rounds, unit, goal, judged, note }: PlainRounds): Figure {
  const worst = goal.is === '≥' ? Math.min(...rounds) : Math.max(...rounds)
  const value = judged === 'worst' ? worst : median(rounds)
  return { work, value, unit, spread: spreadOf(rounds), goal, met: meets(value, goal), note }
}
