import type { z } from 'zod'
import { Refusal } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import { parsedOrUndefined } from '../json/parsed-or-undefined.ts'

/** The record in a file of JSON, undefined if there is none. Refuses a file that holds something else, by its path. */
export function readRecord<T>(fs: Fs, path: string, schema: z.ZodType<T>): T | undefined {
  const bytes = fs.readFile(path)
  if (!bytes) return undefined
  const read = schema.safeParse(parsedOrUndefined(bytes))
  if (read.success) return read.data
  throw unlikeRecord(path)
}

/** There is a file, but it is not what webhooks keep there. */
export function unlikeRecord(path: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `${path} does not hold what webhooks keep there. Restore it from a backup, or remove its folder.`,
  )
}
