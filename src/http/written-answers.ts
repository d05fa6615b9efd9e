import { BoundedCache } from '../bounded-cache.ts'

/** An answer written out, with its entity tag. */
export interface WrittenAnswer {
  readonly text: Buffer
  readonly etag: string
}

/** The answers that were written lately, 32 MB of them for all surfaces together, and none that was not asked for in five to ten minutes. */
export const writtenAnswers = new BoundedCache<string, WrittenAnswer>(
  32 * 1024 * 1024,
  ({ text }) => text.length + 300,
  { unusedFor: 5 * 60 * 1000 },
)
