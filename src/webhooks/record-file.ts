import type { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Fs } from '../storage/fs.ts'

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

/**
 * Puts a record in a file, in place of what is there, in one step. After a power cut the file holds one or the other; sync the
 * folder to be sure of the new one. Only the server's own user may read it, since webhooks keep secrets and what their receivers
 * answered. One process at a time may write a file.
 */
export async function replaceRecord(fs: Fs, folder: string, name: string, record: object): Promise<void> {
  const temporary = `${folder}/${name}.new`
  fs.remove(temporary) // what a process that died here left
  await fs.createSynced(temporary, Buffer.from(`${JSON.stringify(record)}\n`), 0o600)
  fs.rename(temporary, `${folder}/${name}`)
}
