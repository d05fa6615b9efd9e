import { textTable } from '../../../command/text-table.ts'
import { MEASURES, type Measure } from '../measures.ts'
import type { Soak } from '../load/run-soak.ts'
import { trendOf } from './trend-of.ts'
import { typical } from '../load/typical.ts'

/** What a soak measured: the medians of its first tenth, of the tenth after the middle and of the last, and where the second half is heading. */
export function soakTable({ samples, requests, problems }: Soak): string {
  const rows = Object.values(MEASURES).map((measure: Measure) => {
    const tell = (value: number, digits = measure.digits): string =>
      `${value.toFixed(digits)} ${measure.unit}`.trim()
    const { perHour } = trendOf(samples, measure)
    return [
      measure.name,
      tell(typical(samples, measure, 0, 0.1)),
      tell(typical(samples, measure, 0.5, 0.6)),
      tell(typical(samples, measure, 0.9, 1)),
      `${perHour < 0 ? '' : '+'}${tell(perHour, 1)}`,
    ]
  })
  return [
    textTable([['', 'start', 'middle', 'end', 'slope an hour'], ...rows]),
    `${requests} requests, ${samples.at(-1)?.commits ?? 0} commits, ${problems.length} unexpected answers`,
  ].join('\n')
}
