import { type KeyObject, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import { documentsOf, type Fs } from '../../storage/files.ts'

/** The key that encrypts secrets. A `KeyObject` reveals nothing when printed or logged. */
export interface SecretsKey {
  readonly key: KeyObject
  /** Distinguishes keys without revealing them: 16 hex digits. */
  readonly id: string
}

/** Parses 32 bytes in base64 (either alphabet, padded or not) or hex; undefined for anything else. */
export function parseSecretsKey(text: string): SecretsKey | undefined {
  const given = text.trim()
  if (/^[0-9a-f]{64}$/i.test(given)) return toSecretsKey(Buffer.from(given, 'hex'))
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(given)) return toSecretsKey(Buffer.from(given, 'base64'))
  return undefined
}

/** The path of the store's own key, used if none is configured. */
export function secretsKeyPath(storeDir: string): string {
  return `${storeDir}/secrets.key`
}

/** The store's own key; undefined if absent. Refuses an invalid file, by its path. */
export function readStoreKey(fs: Fs, storeDir: string): SecretsKey | undefined {
  const path = secretsKeyPath(storeDir)
  const bytes = fs.readFile(path)
  if (!bytes) return undefined
  const key = parseSecretsKey(bytes.toString('utf8'))
  if (key) return key
  throw new Refusal(
    'storage_unavailable',
    `${path} does not hold a key of 32 bytes in base64 or hex. Restore it from a backup, or put the key in SECRETS_KEY.`,
  )
}

/** Creates the store's own key, readable by its owner only. If several processes do so at once, one wins, and all answer its key. */
export async function makeStoreKey(fs: Fs, storeDir: string): Promise<SecretsKey> {
  const bytes = randomBytes(32)
  const text = Buffer.from(`${bytes.toString('base64')}\n`)
  await documentsOf(fs).create(secretsKeyPath(storeDir), text, { mode: 0o600 })
  return readStoreKey(fs, storeDir) ?? toSecretsKey(bytes)
}

function toSecretsKey(bytes: Buffer): SecretsKey {
  const id = createHmac('sha256', bytes).update('branchpoint secrets').digest('hex').slice(0, 16)
  return { key: createSecretKey(bytes), id }
}
