/** A scale of values: where its ticks are, and how far up a value lies (0 to 1). */
export interface Axis {
  readonly ticks: readonly number[]
  readonly heightOf: (value: number) => number
}

/** From 0 to a round number that is no less than `most`, in at most `steps` steps of 1, 2, 2.5 or 5 times a power of ten. */
export function linearAxis(most: number, steps: number): Axis {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1) / steps))
  const step = [1, 2, 2.5, 5].map((times) => times * power).find((it) => it * steps >= most) ?? 10 * power
  const count = Math.max(1, Math.ceil(most / step))
  return {
    ticks: Array.from({ length: count + 1 }, (_, number) => Number((number * step).toPrecision(6))),
    heightOf: (value) => value / (count * step),
  }
}

/** From `least` to the first power of ten times it that is no less than `most`; what is less than `least` lies at the bottom. */
export function logarithmicAxis(least: number, most: number): Axis {
  const decades = Math.max(1, Math.ceil(Math.log10(most / least)))
  return {
    ticks: Array.from({ length: decades + 1 }, (_, number) => Number((least * 10 ** number).toPrecision(6))),
    heightOf: (value) => Math.log10(Math.max(value, least) / least) / decades,
  }
}
