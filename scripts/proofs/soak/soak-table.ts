import { textTable } from '../../../src/cli/command/text-table.ts'
import type { Soak } from './load/run-soak.ts'
import { MEASURES, type Measure, seriesOf } from './measures.ts'
import { risePerDay } from './plateau.ts'
import { typical } from './typical.ts'

/** What a soak measured: the medians of its first tenth, of the tenth after the middle and of the last, and what its lows would rise by in an hour. */
export function soakTable({ samples, requests, problems }: Soak): string {
  const rows = Object.values(MEASURES).map((measure: Measure) => {
    const tell = (value: number, digits = measure.digits): string =>
      `${value.toFixed(digits)} ${measure.unit}`.trim()
    const perHour = risePerDay(seriesOf(samples, measure)) / 24
    return [
      measure.name,
      tell(typical(samples, measure, 0, 0.1)),
      tell(typical(samples, measure, 0.5, 0.6)),
      tell(typical(samples, measure, 0.9, 1)),
      `${perHour < 0 ? '' : '+'}${tell(perHour, 1)}`,
    ]
  })
  return [
    textTable([['', 'start', 'middle', 'end', 'lows an hour'], ...rows]),
    `${requests} requests, ${samples.at(-1)?.commits ?? 0} commits, ${problems.length} unexpected answers`,
  ].join('\n')
}
