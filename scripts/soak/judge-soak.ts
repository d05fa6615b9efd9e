import { MEASURES, type Measure } from './measures.ts'
import { median } from '../bench/load.ts'
import type { Soak } from './run-soak.ts'
import type { Sample } from './sample.ts'
import { slopeOf } from './slope-of.ts'

/** The most that the straight line through the second half may rise from its start to its end, in MB. */
export const MOST_GROWTH = 16
/** How many more there may be in the last tenth than in the one after the middle: clients come and go. */
const MORE_DESCRIPTORS = 16
const MORE_CHILDREN = 4

/**
 * What about a soak is not flat, as sentences; none if it is. Flat is: over the second half resident memory and the heap in use rise by at
 * most 16 MB (least squares); file descriptors and processes are, in the middle of the last tenth, no more than 16 and 4 above where they were
 * just after half-time; the event loop's p99 of the last quarter is within one and a half times that of the quarter before, and 5 ms; and
 * every answer was an expected one.
 */
export function judgeSoak({ samples, problems }: Soak): readonly string[] {
  const findings: string[] = []
  for (const measure of [MEASURES.resident, MEASURES.heap]) {
    const growth = growthOf(samples, measure)
    if (growth > MOST_GROWTH)
      findings.push(`${measure.name} grew by ${growth.toFixed(1)} MB in the second half`)
  }
  compare(MEASURES.descriptors, MORE_DESCRIPTORS)
  compare(MEASURES.children, MORE_CHILDREN)
  const [before, after] = [part(samples, 0.5, 0.75), part(samples, 0.75, 1)].map((it) =>
    median(it.map(MEASURES.delayP99.of)),
  ) as [number, number] // one for each
  if (after > before * 1.5 + 5)
    findings.push(`event-loop delay, p99, went from ${before.toFixed(1)} to ${after.toFixed(1)} ms`)
  if (problems.length > 0) findings.push(`${problems.length} answers were not as expected`)
  return findings

  function compare(measure: Measure, most: number): void {
    const middle = median(part(samples, 0.5, 0.6).map(measure.of))
    const end = median(part(samples, 0.9, 1).map(measure.of))
    if (end > middle + most) findings.push(`${measure.name} went from ${middle} to ${end}`)
  }
}

/** How far the line through the second half rises an hour, in the measure's unit. */
export function hourlySlope(samples: readonly Sample[], { of }: Measure): number {
  return slopeOf(part(samples, 0.5, 1).map((sample) => [sample.at / 3600, of(sample)]))
}

function growthOf(samples: readonly Sample[], measure: Measure): number {
  const half = part(samples, 0.5, 1)
  const hours = ((half.at(-1)?.at ?? 0) - (half[0]?.at ?? 0)) / 3600
  return hourlySlope(samples, measure) * hours
}

/** The samples from one part of the time to another, each from 0 to 1. */
export function part(samples: readonly Sample[], from: number, to: number): readonly Sample[] {
  const end = samples.at(-1)?.at ?? 0
  return samples.filter(({ at }) => at > from * end && at <= to * end)
}
