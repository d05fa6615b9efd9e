import { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Fs } from '../storage/fs.ts'

/** Where the result of a write is: ids, from which the answer is made anew. */
export type ResultAddress = Readonly<z.infer<typeof resultAddress>>

const resultAddress = z.strictObject({
  /** Of the artifact, variant or revision that the answer is about. */
  id: z.string(),
  /** Of the revision that a flat record shows beside its artifact. */
  revision: z.string().optional(),
})

/** What is kept of a request that carries an `Idempotency-Key` (ruling 1.11): enough to know it again, never its body. */
export type Intent = Readonly<z.infer<typeof intent>>

const intent = z.strictObject({
  /** Hex SHA-256 of what was asked for. */
  fingerprint: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.iso.datetime(),
  /** The id of the artifact that the request creates, if it creates one. */
  artifact_id: z.uuid(),
  /** Absent until the work is done. */
  result: resultAddress.optional(),
})

/** The intent in a file, undefined if there is none. Refuses a file it cannot read, by its path. */
export function readIntent(fs: Fs, path: string): Intent | undefined {
  const bytes = fs.readFile(path)
  if (!bytes) return undefined
  const read = intent.safeParse(parsedOrUndefined(bytes))
  if (read.success) return read.data
  throw new Refusal(
    'storage_unavailable',
    `${path} does not hold an intent. Restore it from a backup; or, once you know what its request did, remove it.`,
  )
}

/**
 * Puts an intent in place of what the file holds, in one step; its bytes are on the disk then, its name once the folder is
 * synced. Call it under the lock of the key.
 */
export async function replaceIntent(fs: Fs, path: string, value: Intent): Promise<void> {
  const temporary = `${path}.new`
  fs.remove(temporary) // what a process that died under the lock left
  await fs.createSynced(temporary, Buffer.from(`${JSON.stringify(value)}\n`))
  fs.rename(temporary, path)
}
