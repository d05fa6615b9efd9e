import { z } from 'zod'
import { documentsOf, type Fs, JsonRecordFile } from '../../storage/files.ts'
import { SCOPES } from './scope.ts'

/** A key in `keys.json`; of the token only a hash and the last four characters are stored. */
export type ApiKey = Readonly<z.infer<typeof apiKey>>

const apiKey = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  email: z.string(),
  scopes: z.array(z.enum(SCOPES)).readonly(),
  /** The folders it is limited to; absent if to none. */
  folders: z.array(z.string()).readonly().optional(),
  /** Hex SHA-256 of the token. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  last4: z.string(),
  created_at: z.iso.datetime(),
  /** The principal that made it; absent if the command line did, on the store itself, or an earlier version. */
  created_by: z.string().optional(),
  /** The key is refused from then on. */
  expires_at: z.iso.datetime().optional(),
  revoked_at: z.iso.datetime().optional(),
  revoked_by: z.string().optional(),
})

const keyFile = new JsonRecordFile({
  schema: z.strictObject({ format: z.literal(1), keys: z.array(apiKey).readonly() }),
  damage: (path, why) =>
    `${path} is not a list of API keys: ${why}. Restore it from a backup, or remove it and create new keys.`,
  indent: 2,
})

/** The path of a project's keys, in the store and outside every repository. */
export function keyFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/${FILE}`
}

/** The project's keys, including revoked ones; empty if there is no file. Refuses an unreadable file, by its path. */
export function readApiKeyFile(fs: Fs, storeDir: string, project: string): readonly ApiKey[] {
  return keyFile.read(fs, keyFilePath(storeDir, project))?.keys ?? []
}

/** Replaces the project's keys by the result of `change`; resolves when they are durable. Concurrent changes are not lost. */
export function updateKeyFile<T>(
  fs: Fs,
  storeDir: string,
  project: string,
  change: (keys: readonly ApiKey[]) => { readonly keys: readonly ApiKey[]; readonly answer: T },
): Promise<T> {
  return keyFile.update(documentsOf(fs), keyFilePath(storeDir, project), (before) => {
    const { keys, answer } = change(before?.keys ?? [])
    return { record: { format: 1, keys }, answer }
  })
}

const FILE = 'keys.json'
