import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { ED25519, KEY_TYPES, type CheckSignature } from './key-types.ts'
import { SshReader, sshStrings } from './wire.ts'

/** A public key as SSH knows it. */
export interface SshPublicKey {
  readonly type: string
  /** Its wire form: what `authorized_keys` has in base64. */
  readonly blob: Buffer
  /** `SHA256:…`, as `ssh-keygen -l` and git print it. */
  readonly fingerprint: string
  /** Undefined for a type of key that is not checked here. */
  readonly check: CheckSignature | undefined
}

/** The key in this wire form. Throws `CorruptObject` for one that is malformed. */
export function parsePublicKey(blob: Buffer): SshPublicKey {
  const digest = createHash('sha256').update(blob).digest('base64')
  const reader = new SshReader(blob)
  const type = reader.text()
  const check = KEY_TYPES.get(type)?.(reader)
  if (check) reader.end()
  return { type, blob, fingerprint: `SHA256:${digest.replace(/=+$/, '')}`, check }
}

/** The public half of an Ed25519 private key. */
export function publicKeyOf(privateKey: KeyObject): SshPublicKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return parsePublicKey(sshStrings(ED25519, Buffer.from(x, 'base64url')))
}
