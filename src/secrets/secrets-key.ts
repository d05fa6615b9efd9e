import { type KeyObject, createHmac, createSecretKey, randomBytes } from 'node:crypto'
import { Refusal } from '../errors.ts'
import { documentsOf } from '../storage/documents/file-documents.ts'
import type { Fs } from '../storage/fs.ts'

/** The key that secrets are encrypted with. A `KeyObject` shows nothing of itself when it is printed or logged. */
export interface SecretsKey {
  readonly key: KeyObject
  /** Tells keys apart and says nothing about them: 16 hex digits. */
  readonly id: string
}

/** Reads 32 bytes in base64 (either alphabet, padded or not) or in hex; undefined for anything else. */
export function parseSecretsKey(text: string): SecretsKey | undefined {
  const given = text.trim()
  if (/^[0-9a-f]{64}$/i.test(given)) return toSecretsKey(Buffer.from(given, 'hex'))
  if (/^[A-Za-z0-9+/_-]{43}=?$/.test(given)) return toSecretsKey(Buffer.from(given, 'base64'))
  return undefined
}

/** Where the key is of a store whose configuration names none. */
export function secretsKeyPath(storeDir: string): string {
  return `${storeDir}/secrets.key`
}

/** The store's own key; undefined if it has none. Refuses a file that holds something else, by its path. */
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

/** Makes the store's own key, for its owner's eyes only. Of processes that do so at once one wins, and all answer its key. */
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
