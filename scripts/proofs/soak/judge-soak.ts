import { MEASURES, type Measure } from './measures.ts'
import type { Soak } from './load/run-soak.ts'
import { trendOf } from './picture/trend-of.ts'
import { typical } from './load/typical.ts'

/** The most that the straight line through the second half may rise from its start to its end, in MB. */
const MOST_GROWTH = 16
/** How many more there may be at the end than after the middle: clients come and go. */
const MORE_DESCRIPTORS = 16
const MORE_CHILDREN = 4
/** How much longer the event loop may be held up in the last quarter than in the one before: so many times, and milliseconds. */
const TIMES_DELAY = 1.5
const MORE_DELAY = 5

/**
 * What about a soak is not flat, as sentences; none if it is. Flat is: over the second half resident memory and the heap in use
 * rise by at most 16 MB (least squares); the median of file descriptors over the last tenth is at most 16 above that over the tenth
 * after the middle, and that of processes at most 4; the median of the event loop's p99 over the last quarter is at most 1.5 times
 * that over the quarter before, and 5 ms; and every answer was an expected one.
 */
export function judgeSoak({ samples, problems }: Soak): readonly string[] {
  const findings: string[] = []
  for (const measure of [MEASURES.resident, MEASURES.heap]) {
    const { growth } = trendOf(samples, measure)
    if (growth > MOST_GROWTH) {
      findings.push(`${measure.name} grew by ${growth.toFixed(0)} MB in the second half`)
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
