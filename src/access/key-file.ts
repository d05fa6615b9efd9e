import { z } from 'zod'
import { Refusal } from '../errors.ts'
import { parsedOrUndefined } from '../json/json-values.ts'
import type { Fs } from '../storage/fs.ts'
import { SCOPES } from './scope.ts'

/** One key as `keys.json` keeps it: everything but the token, of which there are a hash and the last four characters. */
export type ApiKey = Readonly<z.infer<typeof apiKey>>

const apiKey = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  email: z.string(),
  scopes: z.array(z.enum(SCOPES)).readonly(),
  /** Hex SHA-256 of the token. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  last4: z.string(),
  created_at: z.iso.datetime(),
  revoked_at: z.iso.datetime().optional(),
})

const keyFile = z.strictObject({ format: z.literal(1), keys: z.array(apiKey) })

/** Where a project's keys are, inside the store and outside every repository. */
export function keyFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/${FILE}`
}

/** The project's keys, revoked ones included; none if there is no file. Refuses a file it cannot read, by its path. */
export function readApiKeyFile(fs: Fs, storeDir: string, project: string): readonly ApiKey[] {
  const path = keyFilePath(storeDir, project)
  const bytes = fs.readFile(path)
  if (!bytes) return []
  const read = keyFile.safeParse(parsedOrUndefined(bytes))
  if (read.success) return read.data.keys
  throw new Refusal(
    'storage_unavailable',
    `${path} is not a list of API keys: ${z.prettifyError(read.error)}. Restore it from a backup, or remove it and ` +
      `create new keys.`,
  )
}

/** Replaces the project's keys; once this resolves, the new list is on the disk. Call it under the project's key lock. */
export async function replaceKeyFile(
  fs: Fs,
  storeDir: string,
  project: string,
  keys: readonly ApiKey[],
): Promise<void> {
  const path = keyFilePath(storeDir, project)
  const temporary = `${path}.new`
  fs.remove(temporary) // what a process that died under the lock left
  await fs.createSynced(temporary, Buffer.from(`${JSON.stringify({ format: 1, keys }, null, 2)}\n`))
  fs.rename(temporary, path)
  await fs.syncDir(`${storeDir}/${project}`)
}

const FILE = 'keys.json'
