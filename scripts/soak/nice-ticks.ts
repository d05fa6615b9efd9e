/** Round numbers from 0 up to the first that is no less than `most`: at most `count` steps of 1, 2, 2.5 or 5 times a power of ten. */
export function niceTicks(most: number, count: number): number[] {
  const rough = Math.max(most, Number.MIN_VALUE) / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((it) => it * count >= most) ?? rough
  const steps = Math.max(1, Math.ceil(most / step))
  return Array.from({ length: steps + 1 }, (_, number) => Number((number * step).toPrecision(6)))
}
