import { createHash, sign } from 'node:crypto'
import { CorruptObject } from '../../objects/errors.ts'
import type { SigningKey } from '../signing-key.ts'
import { ED25519 } from './key-types.ts'
import type { SshPublicKey } from './public-key.ts'
import { parsePublicKey } from './public-key.ts'
import { SshReader, sshStrings } from './wire.ts'

/** The result of checking an SSH signature. */
export interface SshSignature {
  readonly publicKey: SshPublicKey
  /** Whether the signature is valid for the message and namespace; undefined for an unsupported key type. */
  readonly isRight: boolean | undefined
}

/**
 * Signs a message exactly as `ssh-keygen -Y sign -n <namespace>` does (PROTOCOL.sshsig, SHA-512); armoured, without a line break at the end.
 */
export function signSsh(namespace: string, message: Buffer, { privateKey, publicKey }: SigningKey): string {
  const signed = signedData(namespace, HASH, message)
  const signature = sshStrings(ED25519, sign(null, signed, privateKey))
  const blob = Buffer.concat([
    Buffer.from(`${MAGIC}\0\0\0\x01`),
    sshStrings(publicKey.blob, namespace, '', HASH, signature),
  ])
  const lines = blob.toString('base64').match(/.{1,70}/g) ?? []
  return [BEGIN, ...lines, END].join('\n')
}

/** Checks an armoured signature of a message. Throws `CorruptObject` if it is malformed. */
export function checkSsh(namespace: string, message: Buffer, armoured: string): SshSignature {
  const reader = new SshReader(unarmoured(armoured))
  if (reader.take(MAGIC.length).toString('latin1') !== MAGIC)
    throw new CorruptObject('does not begin as a signature')
  const version = reader.uint32()
  if (version !== 1) throw new CorruptObject(`is of version ${version} instead of 1`)
  const publicKey = parsePublicKey(reader.string())
  const madeFor = reader.text()
  reader.string() // reserved
  const hash = reader.text()
  const signature = new SshReader(reader.string())
  reader.end()
  if (!publicKey.check) return { publicKey, isRight: undefined }
  const algorithm = signature.text()
  const bytes = signature.string()
  signature.end()
  const isRight =
    madeFor === namespace &&
    HASHES.includes(hash) &&
    publicKey.check(signedData(namespace, hash, message), algorithm, bytes)
  return { publicKey, isRight }
}

/** The first line of an armoured signature. */
export const BEGIN = '-----BEGIN SSH SIGNATURE-----'
const END = '-----END SSH SIGNATURE-----'
const MAGIC = 'SSHSIG'
const HASH = 'sha512'
const HASHES = [HASH, 'sha256']

/** The bytes that the key signs for a message, with its hash and the namespace. */
function signedData(namespace: string, hash: string, message: Buffer): Buffer {
  const digest = createHash(hash).update(message).digest()
  return Buffer.concat([Buffer.from(MAGIC), sshStrings(namespace, '', hash, digest)])
}

function unarmoured(text: string): Buffer {
  const lines = text.trimEnd().split('\n')
  const base64 = lines.slice(1, -1).join('')
  if (lines[0] !== BEGIN || lines.at(-1) !== END || !/^[A-Za-z0-9+/]+={0,2}$/.test(base64))
    throw new CorruptObject('is not in one whole armour')
  return Buffer.from(base64, 'base64')
}

/** The namespace of git's signatures (`ssh-keygen -Y sign -n git`). */
export const GIT_NAMESPACE = 'git'
