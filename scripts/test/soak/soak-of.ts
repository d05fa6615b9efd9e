import type { Sample } from '../../proofs/soak/sample.ts'
import type { Soak } from '../../proofs/soak/load/run-soak.ts'

const MB = 1024 * 1024

/** Half an hour in which nothing changes, but for what `change` says of a sample (`part` of the time from 0 to 1 has gone by). */
export function soakOf(
  change: (part: number) => Partial<Sample> = () => ({}),
  problems: readonly string[] = [],
): Soak {
  const samples = Array.from({ length: 360 }, (_, number): Sample => ({
    at: (number + 1) * 5,
    resident: 250 * MB,
    heap: 80 * MB,
    descriptors: 100,
    children: 3,
    processor: 0.3,
    delayP99: 2,
    delayMax: 20,
    requestsPerSecond: 180,
    p50: 2,
    p99: 20,
    commits: number * 50,
    ...change((number + 1) / 360),
  }))
  return { samples, requests: 324_000, problems }
}
