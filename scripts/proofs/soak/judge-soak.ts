import { MEASURES, type Measure, seriesOf } from './measures.ts'
import type { Soak } from './load/run-soak.ts'
import { isPlateau, risePerDay } from './plateau.ts'
import { typical } from './typical.ts'

/** How many more there may be at the end than after the middle: clients come and go. */
const MORE_DESCRIPTORS = 16
const MORE_CHILDREN = 4
/** How much longer the event loop may be held up in the last quarter than in the one before: so many times, and milliseconds. */
const TIMES_DELAY = 1.5
const MORE_DELAY = 5

/**
 * What about a soak is not flat, as sentences; none if it is. Flat is: resident memory and the heap in use have reached a plateau (see
 * there; the level is that of resident memory, since a heap is a part of it whose own level is low); the median of file descriptors over the last tenth is at most 16 above that over the tenth
 * after the middle, and that of processes at most 4; the median of the event loop's p99 over the last quarter is at most 1.5 times
 * that over the quarter before, and 5 ms; and every answer was an expected one.
 */
export function judgeSoak({ samples, problems }: Soak): readonly string[] {
  const findings: string[] = []
  for (const measure of [MEASURES.resident, MEASURES.heap]) {
    const series = seriesOf(samples, measure)
    if (!isPlateau(series, typical(samples, MEASURES.resident, 0.5, 1))) {
      findings.push(`${measure.name} keeps rising, by ${risePerDay(series).toFixed(0)} MB a day`)
    }
  }
  const compare = (measure: Measure, before: number, after: number, most: number): void => {
    const [from, to] = [before, after].map((value) =>
      `${value.toFixed(measure.digits)} ${measure.unit}`.trim(),
    )
    if (after > most) findings.push(`${measure.name} went from ${from} to ${to}`)
  }
  for (const [measure, more] of [
    [MEASURES.descriptors, MORE_DESCRIPTORS],
    [MEASURES.children, MORE_CHILDREN],
  ] as const) {
    const before = typical(samples, measure, 0.5, 0.6)
    compare(measure, before, typical(samples, measure, 0.9, 1), before + more)
  }
  const before = typical(samples, MEASURES.delayP99, 0.5, 0.75)
  const after = typical(samples, MEASURES.delayP99, 0.75, 1)
  compare(MEASURES.delayP99, before, after, before * TIMES_DELAY + MORE_DELAY)
  if (problems.length > 0) findings.push(`${problems.length} answers were not as expected`)
  return findings
}
