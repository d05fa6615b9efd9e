import type { Sample } from './sample.ts'

/** The samples from one part of the time to another, each from 0 to 1. */
export function partOf(samples: readonly Sample[], from: number, to: number): readonly Sample[] {
  const end = samples.at(-1)?.at ?? 0
  return samples.filter(({ at }) => at > from * end && at <= to * end)
}
