import { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Fs } from '../storage/fs.ts'

/** What `secrets.json` holds. */
export type SecretFile = Readonly<z.infer<typeof secretFile>>

/** One secret as the file keeps it: all but the value can be read without the key. */
export type StoredSecret = Readonly<z.infer<typeof storedSecret>>

const storedSecret = z.strictObject({
  name: z.string(),
  /** Which language models it is for, if it is a named connection. */
  provider: z.string().optional(),
  /** Where those are, if not at the provider's usual place. */
  base_url: z.string().optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** See sealed-value.ts. */
  sealed: z.base64(),
})

const secretFile = z.strictObject({
  format: z.literal(1),
  /** The id of the key that all of them are encrypted with. */
  key: z.string().regex(/^[0-9a-f]{16}$/),
  /** Sorted by name. A list, since any name may be one, `__proto__` included. */
  secrets: z.array(storedSecret).readonly(),
})

/** Where a project's secrets are, inside the store and outside every repository. */
export function secretFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/secrets.json`
}

/** The project's file; undefined if there is none. Refuses one that it cannot read, by its path. */
export function readSecretFile(fs: Fs, storeDir: string, project: string): SecretFile | undefined {
  const path = secretFilePath(storeDir, project)
  const bytes = fs.readFile(path)
  if (!bytes) return undefined
  const read = secretFile.safeParse(parsedOrUndefined(bytes))
  if (read.success) return read.data
  throw new Refusal(
    'storage_unavailable',
    `${path} is not a list of secrets: ${z.prettifyError(read.error)}. Restore it from a backup, or remove it and set ` +
      `the secrets anew.`,
  )
}

/** Replaces the project's file; once this resolves, the new one is on the disk. Call it under the project's lock of secrets. */
export async function replaceSecretFile(
  fs: Fs,
  storeDir: string,
  project: string,
  content: SecretFile,
): Promise<void> {
  const path = secretFilePath(storeDir, project)
  const temporary = `${path}.new`
  fs.remove(temporary) // what a process that died under the lock left
  await fs.createSynced(temporary, Buffer.from(`${JSON.stringify(content, null, 2)}\n`), 0o600)
  fs.rename(temporary, path)
  await fs.syncDir(`${storeDir}/${project}`)
}
