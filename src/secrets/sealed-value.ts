import { type KeyObject, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

/** What a sealed value belongs to; it opens nowhere else, so an entry cannot be moved to another name, project or server. */
export interface SealedFor {
  readonly project: string
  readonly name: string
  readonly provider: string | undefined
  readonly baseUrl: string | undefined
}

/** Encrypts a value: base64 of nonce (12 bytes), tag (16 bytes) and ciphertext of AES-256-GCM. Equal values seal differently. */
export function sealValue(key: KeyObject, value: string, place: SealedFor): string {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(associatedData(place))
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64')
}

/** Decrypts a value; undefined if it was sealed with another key or for another place, or has changed since. */
export function openValue(key: KeyObject, sealed: string, place: SealedFor): string | undefined {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < NONCE + TAG) return undefined
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE), { authTagLength: TAG })
    .setAAD(associatedData(place))
    .setAuthTag(bytes.subarray(NONCE, NONCE + TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(NONCE + TAG)), decipher.final()]).toString('utf8')
  } catch {
    return undefined // all that `final` throws: the tag does not fit
  }
}

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16

function associatedData({ project, name, provider, baseUrl }: SealedFor): Buffer {
  return Buffer.from(JSON.stringify([project, name, provider ?? null, baseUrl ?? null]))
}
