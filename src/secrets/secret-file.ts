import { z } from 'zod'
import { documentsOf } from '../storage/documents/file-documents.ts'
import type { Fs } from '../storage/fs.ts'
import { JsonRecordFile } from '../storage/json-record-file.ts'

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

const file = new JsonRecordFile<SecretFile>({
  schema: secretFile,
  damage: (path, why) =>
    `${path} is not a list of secrets: ${why}. Restore it from a backup, or remove it and set the secrets anew.`,
  indent: 2,
  mode: 0o600,
})

/** Where a project's secrets are, inside the store and outside every repository. */
export function secretFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/secrets.json`
}

/** The project's file; undefined if there is none. Refuses one that it cannot read, by its path. */
export function readSecretFile(fs: Fs, storeDir: string, project: string): SecretFile | undefined {
  return file.read(fs, secretFilePath(storeDir, project))
}

/**
 * Replaces the project's file by what `change` makes of it; once this resolves, that is durable. Where `change` answers no file, it stays as it
 * is.
 */
export function updateSecretFile<T>(
  fs: Fs,
  storeDir: string,
  project: string,
  change: (before: SecretFile | undefined) => Promise<{ readonly record?: SecretFile; readonly answer: T }>,
): Promise<T> {
  return file.update(documentsOf(fs), secretFilePath(storeDir, project), change)
}
