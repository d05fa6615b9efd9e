import type { JsonWebKey, KeyObject } from 'node:crypto'
import { createPublicKey, verify } from 'node:crypto'
import { CorruptObject } from '../../objects/errors.ts'
import { SshReader } from './wire.ts'

/** Whether the signature of the data, with this algorithm, is valid for the key. */
export type CheckSignature = (data: Buffer, algorithm: string, signature: Buffer) => boolean

/** The key type that this service signs with. */
export const ED25519 = 'ssh-ed25519'

/**
 * The key types whose signatures are checked here: each function parses the rest of a public key and answers its check. Certificates and
 * security keys (`sk-…`) are not supported.
 */
export const KEY_TYPES: ReadonlyMap<string, (reader: SshReader) => CheckSignature> = new Map([
  [ED25519, readEd25519],
  ['ssh-rsa', readRsa],
  ['ecdsa-sha2-nistp256', (reader) => readEcdsa(reader, 'nistp256', 'P-256', 32, 'sha256')],
  ['ecdsa-sha2-nistp384', (reader) => readEcdsa(reader, 'nistp384', 'P-384', 48, 'sha384')],
  ['ecdsa-sha2-nistp521', (reader) => readEcdsa(reader, 'nistp521', 'P-521', 66, 'sha512')],
])

/** RFC 8709. */
function readEd25519(reader: SshReader): CheckSignature {
  const x = reader.string()
  if (x.length !== 32) throw new CorruptObject(`has an Ed25519 key of ${x.length} bytes instead of 32`)
  const key = keyOf({ kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') })
  return (data, algorithm, signature) => algorithm === ED25519 && verify(null, data, key, signature)
}

/** RFC 4253, section 6.6, with the signatures of RFC 8332; SHA-1 is not accepted. */
function readRsa(reader: SshReader): CheckSignature {
  const [e, n] = [reader.string(), reader.string()]
  const key = keyOf({
    kty: 'RSA',
    n: unsigned(n).toString('base64url'),
    e: unsigned(e).toString('base64url'),
  })
  const hashes = new Map([
    ['rsa-sha2-256', 'sha256'],
    ['rsa-sha2-512', 'sha512'],
  ])
  return (data, algorithm, signature) => {
    const hash = hashes.get(algorithm)
    return hash !== undefined && verify(hash, data, key, signature)
  }
}

/** RFC 5656, section 3.1. */
function readEcdsa(reader: SshReader, name: string, crv: string, size: number, hash: string): CheckSignature {
  if (reader.text() !== name) throw new CorruptObject('has a key of another curve than its type')
  const point = reader.string()
  if (point.length !== 1 + 2 * size || point[0] !== 4) throw new CorruptObject('has a key that is no point')
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)]
  const key = keyOf({ kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') })
  return (data, algorithm, signature) => {
    const numbers = new SshReader(signature)
    const halves = [numbers.string(), numbers.string()].map(unsigned)
    numbers.end()
    if (algorithm !== `ecdsa-sha2-${name}` || halves.some(({ length }) => length > size)) return false
    const padded = halves.flatMap((half) => [Buffer.alloc(size - half.length), half])
    return verify(hash, data, { key, dsaEncoding: 'ieee-p1363' }, Buffer.concat(padded))
  }
}

function keyOf(jwk: JsonWebKey): KeyObject {
  try {
    return createPublicKey({ format: 'jwk', key: jwk })
  } catch {
    // OpenSSL rejects the numbers, with its own message.
    throw new CorruptObject('holds a key that is none')
  }
}

/** An mpint without its leading zeros. */
function unsigned(mpint: Buffer): Buffer {
  const first = mpint.findIndex((byte) => byte !== 0)
  return first < 0 ? Buffer.alloc(0) : mpint.subarray(first)
}
