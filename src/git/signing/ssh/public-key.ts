import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { ED25519, KEY_TYPES, type CheckSignature } from './key-types.ts'
import { SshReader, sshStrings } from './wire.ts'

/** An SSH public key. */
export interface SshPublicKey {
  readonly type: string
  /** The wire format, which `authorized_keys` has in base64. */
  readonly blob: Buffer
  /** `SHA256:…`, as shown by `ssh-keygen -l` and git. */
  readonly fingerprint: string
  /** Undefined for an unsupported key type. */
  readonly check: CheckSignature | undefined
}

/** Parses a key in wire format. Throws `CorruptObject` if it is malformed. */
export function parsePublicKey(blob: Buffer): SshPublicKey {
  const digest = createHash('sha256').update(blob).digest('base64')
  const reader = new SshReader(blob)
  const type = reader.text()
  const check = KEY_TYPES.get(type)?.(reader)
  if (check) reader.end()
  return { type, blob, fingerprint: `SHA256:${digest.replace(/=+$/, '')}`, check }
}

/** The public key of an Ed25519 private key. */
export function publicKeyOf(privateKey: KeyObject): SshPublicKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return parsePublicKey(sshStrings(ED25519, Buffer.from(x, 'base64url')))
}
