import type { Figure } from './figure.ts'

/** A figure of this run and what became of it since another. */
export interface Change {
  readonly before: Figure
  /** In percent of what it was; undefined if that was 0. */
  readonly percent: number | undefined
  /** Neither run's value lies within what the other's rounds gave: more than noise. Never of a single round. */
  readonly isBeyondSpread: boolean
}

/** What two runs have in common, by the name of the work, and what only one of them has. */
export interface Comparison {
  readonly changes: ReadonlyMap<string, Change>
  readonly onlyBefore: readonly string[]
  readonly onlyNow: readonly string[]
}

/** Holds two runs' figures against each other: the same work in the same unit is the same figure. */
export function compareFigures(before: readonly Figure[], now: readonly Figure[]): Comparison {
  const changes = new Map<string, Change>()
  for (const figure of now) {
    const old = before.find((it) => isSame(it, figure))
    if (old) changes.set(figure.work, changeOf(old, figure))
  }
  const without = (figures: readonly Figure[]): string[] =>
    figures.map(({ work }) => work).filter((work) => !changes.has(work))
  return { changes, onlyBefore: without(before), onlyNow: without(now) }
}

function isSame(a: Figure, b: Figure): boolean {
  return a.work === b.work && a.unit === b.unit
}

function changeOf(before: Figure, now: Figure): Change {
  const difference = now.value - before.value
  return {
    before,
    percent: before.value === 0 ? undefined : (100 * difference) / Math.abs(before.value),
    isBeyondSpread: isOutside(now, before) && isOutside(before, now),
  }
}

function isOutside({ value }: Figure, { spread }: Figure): boolean {
  return spread !== undefined && (value < spread.least || value > spread.most)
}
