import type { Series } from './plateau.ts'
import type { Sample } from './sample.ts'

/** Something that every sample tells of the server, as it is printed. */
export interface Measure {
  readonly name: string
  readonly unit: string
  readonly of: (sample: Sample) => number
  readonly digits: number
}

/** What a measure was, over the time. */
export function seriesOf(samples: readonly Sample[], { of }: Measure): Series {
  return samples.map((sample) => [sample.at, of(sample)])
}

const MB = 1024 * 1024

/** What is measured, in the order of the table. */
export const MEASURES = {
  resident: { name: 'resident memory', unit: 'MB', of: ({ resident }) => resident / MB, digits: 0 },
  heap: { name: 'JavaScript heap in use', unit: 'MB', of: ({ heap }) => heap / MB, digits: 0 },
  descriptors: { name: 'file descriptors', unit: '', of: ({ descriptors }) => descriptors, digits: 0 },
  children: { name: 'processes below it', unit: '', of: ({ children }) => children, digits: 0 },
  processor: {
    name: 'processor time of a core',
    unit: '%',
    of: ({ processor }) => processor * 100,
    digits: 0,
  },
  delayP99: { name: 'event-loop delay, p99', unit: 'ms', of: ({ delayP99 }) => delayP99, digits: 1 },
  delayMax: { name: 'event-loop delay, worst', unit: 'ms', of: ({ delayMax }) => delayMax, digits: 0 },
  requests: {
    name: 'requests a second',
    unit: '',
    of: ({ requestsPerSecond }) => requestsPerSecond,
    digits: 0,
  },
  p50: { name: 'answered after, p50', unit: 'ms', of: ({ p50 = 0 }) => p50, digits: 1 },
  p99: { name: 'answered after, p99', unit: 'ms', of: ({ p99 = 0 }) => p99, digits: 0 },
} as const satisfies Record<string, Measure>
