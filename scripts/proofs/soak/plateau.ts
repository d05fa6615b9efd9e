/** The second half of the time is cut into so many windows. */
const WINDOWS = 8
const DAY = 24 * 60 * 60
/**
 * So many times the level a series may gain in a day: at 300 MB, 0.8 MB a minute. What is slower than that, half an hour cannot tell from
 * what a store that grows is expected to keep.
 */
const MOST_A_DAY = 4

/** A series: seconds and values, in the order of time. */
export type Series = readonly (readonly [at: number, value: number])[]

/** Whether a series stays about where it is: going on as in its second half, it would not gain four times `level` in a day. */
export function isPlateau(series: Series, level: number): boolean {
  return risePerDay(series) <= MOST_A_DAY * level
}

/**
 * What a series would gain in a day if it went on as in its second half: the slope (least squares) of the lowest values of eight windows,
 * which for memory are those after a garbage collection. One step is not taken for the first of many: the largest rise from one window
 * to the next counts no more than the second largest.
 */
export function risePerDay(series: Series): number {
  const half = (series.at(-1)?.[0] ?? 0) / 2
  const length = half / WINDOWS
  const lows: number[] = []
  for (const [at, value] of series.filter(([at]) => at > half)) {
    const window = Math.min(Math.floor((at - half) / length), WINDOWS - 1)
    lows[window] = Math.min(lows[window] ?? Infinity, value)
  }
  const rises = lows.slice(1).map((low, index) => low - (lows[index] ?? low))
  const [, second = 0] = rises.toSorted((a, b) => b - a)
  const most = Math.max(second, 0)
  let sum = 0
  let height = 0
  let spread = 0
  for (const [index, rise] of [0, ...rises].entries()) {
    const offset = index - rises.length / 2
    height += Math.min(rise, most)
    sum += offset * height
    spread += offset ** 2
  }
  return spread === 0 ? 0 : (sum / spread) * (DAY / length)
}
