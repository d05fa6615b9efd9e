import { z } from 'zod'
import { documentsOf, type Fs, JsonRecordFile } from '../../storage/files.ts'

export type SecretFile = Readonly<z.infer<typeof secretFile>>

/** A secret in the file; everything but the value is readable without the key. */
export type StoredSecret = Readonly<z.infer<typeof storedSecret>>

const storedSecret = z.strictObject({
  name: z.string(),
  /** The provider of language models, for a named connection. */
  provider: z.string().optional(),
  /** The provider's address, if not the usual one. */
  base_url: z.string().optional(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  /** See `sealValue`. */
  sealed: z.base64(),
})

/** That a secret was set or removed. `by` is the principal; absent if the command line did it, on the store itself. */
export type SecretAct = Readonly<z.infer<typeof secretAct>>

const secretAct = z.strictObject({
  action: z.enum(['set', 'removed']),
  name: z.string(),
  date: z.iso.datetime(),
  by: z.string().optional(),
})

const secretFile = z.strictObject({
  format: z.literal(1),
  /** The id of the key that encrypts all secrets. */
  key: z.string().regex(/^[0-9a-f]{16}$/),
  /** Sorted by name. A list, because any name is possible, even `__proto__`. */
  secrets: z.array(storedSecret).readonly(),
  /** The last changes; absent if an earlier version wrote the file. */
  log: z.array(secretAct).readonly().optional(),
})

const file = new JsonRecordFile<SecretFile>({
  schema: secretFile,
  damage: (path, why) =>
    `${path} is not a list of secrets: ${why}. Restore it from a backup, or remove it and set the secrets anew.`,
  indent: 2,
  mode: 0o600,
})

/** The path of a project's secrets, in the store and outside every repository. */
export function secretFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/secrets.json`
}

/** The project's file; undefined if absent. Refuses an unreadable file, by its path. */
export function readSecretFile(fs: Fs, storeDir: string, project: string): SecretFile | undefined {
  return file.read(fs, secretFilePath(storeDir, project))
}

/** Replaces the project's file by the result of `change`; resolves when it is durable. Without a file in the result, it stays unchanged. */
export function updateSecretFile<T>(
  fs: Fs,
  storeDir: string,
  project: string,
  change: (before: SecretFile | undefined) => Promise<{ readonly record?: SecretFile; readonly answer: T }>,
): Promise<T> {
  return file.update(documentsOf(fs), secretFilePath(storeDir, project), change)
}
