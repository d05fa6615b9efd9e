import { textTable } from '../command/text-table.ts'
import { hourlySlope, part } from './judge-soak.ts'
import { MEASURES, type Measure } from './measures.ts'
import { median } from '../bench/load.ts'
import type { Soak } from './run-soak.ts'

/** What a soak measured: the medians of its first tenth, the tenth after the middle and the last, and where the second half is heading. */
export function soakTable({ samples, requests, problems }: Soak): string {
  const { commits = 0 } = samples.at(-1) ?? {}
  const rows = Object.values(MEASURES).map((measure: Measure) => {
    const at = (from: number, to: number): string =>
      `${median(part(samples, from, to).map(measure.of)).toFixed(measure.digits)} ${measure.unit}`.trim()
    const slope = hourlySlope(samples, measure)
    return [
      measure.name,
      at(0, 0.1),
      at(0.5, 0.6),
      at(0.9, 1),
      `${slope < 0 ? '' : '+'}${slope.toFixed(1)} ${measure.unit}`.trim(),
    ]
  })
  return [
    textTable([['', 'start', 'middle', 'end', 'an hour'], ...rows]),
    `${requests} requests, ${commits} commits, ${problems.length} answers that were not expected`,
  ].join('\n')
}
