import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { SshReader, sshStrings } from './ssh-wire.ts'
import { Unreadable } from './unreadable.ts'

/** The one type of key that is signed with and checked here. */
export const ED25519 = 'ssh-ed25519'

/** A public key as SSH knows it. */
export interface SshPublicKey {
  /** Its wire form (RFC 8709, section 4): what `authorized_keys` has in base64. */
  readonly blob: Buffer
  /** `SHA256:…`, as `ssh-keygen -l` and git print it. */
  readonly fingerprint: string
  /** To check signatures with; undefined for a type of key that is not checked here. */
  readonly key: KeyObject | undefined
}

/** The key in this wire form. Throws `Unreadable` for one that is malformed. */
export function parsePublicKey(blob: Buffer): SshPublicKey {
  const digest = createHash('sha256').update(blob).digest('base64')
  return { blob, fingerprint: `SHA256:${digest.replace(/=+$/, '')}`, key: keyIn(blob) }
}

/** The public half of an Ed25519 private key. */
export function publicKeyOf(privateKey: KeyObject): SshPublicKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return parsePublicKey(sshStrings(ED25519, Buffer.from(x, 'base64url')))
}

function keyIn(blob: Buffer): KeyObject | undefined {
  const reader = new SshReader(blob)
  if (reader.text() !== ED25519) return undefined
  const x = reader.string()
  reader.end()
  if (x.length !== 32) throw new Unreadable(`has an Ed25519 key of ${x.length} bytes instead of 32`)
  return createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') } })
}
