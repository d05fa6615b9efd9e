import { AGEING, BoundedCache } from '../bounded-cache.ts'

/** An answer written out, with its entity tag. */
export interface WrittenAnswer {
  readonly text: Buffer
  readonly etag: string
}

/** The answers that were written or asked for lately (AGEING), 32 MB of them for all surfaces together. */
export const writtenAnswers = new BoundedCache<string, WrittenAnswer>(
  32 * 1024 * 1024,
  ({ text }) => text.length + 300,
  AGEING,
)
