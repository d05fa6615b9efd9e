import type { z } from 'zod'
import { JsonRecordFile } from '../storage/json-record-file.ts'

/**
 * Files of what webhooks keep, which only the server's own user may read: there are secrets in them, and what receivers answered. One
 * process at a time may write a file.
 */
export function webhookRecordFile<T>(schema: z.ZodType<T>): JsonRecordFile<T> {
  return new JsonRecordFile({
    schema,
    damage: (path) =>
      `${path} does not hold what webhooks keep there. Restore it from a backup, or remove its folder.`,
    mode: 0o600,
  })
}
