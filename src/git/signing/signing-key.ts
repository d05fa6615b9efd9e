import type { KeyObject } from 'node:crypto'
import { createPrivateKey } from 'node:crypto'
import { CorruptObject } from '../objects/errors.ts'
import { ED25519 } from './ssh/key-types.ts'
import type { SshPublicKey } from './ssh/public-key.ts'
import { publicKeyOf } from './ssh/public-key.ts'
import { SshReader } from './ssh/wire.ts'

/** The key that signs commits. */
export interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: SshPublicKey
}

/**
 * Parses an Ed25519 private key without a passphrase: a file of `ssh-keygen -t ed25519` (openssh-key-v1, PROTOCOL.key), or PKCS#8 in PEM, as
 * of `openssl genpkey -algorithm ed25519`. Throws `CorruptObject` with the reason, which reveals nothing of the key.
 */
export function parseSigningKey(text: string): SigningKey {
  const openSsh = OPENSSH.exec(text)
  const privateKey = openSsh ? fromOpenSsh(Buffer.from(openSsh[1] ?? '', 'base64')) : fromPem(text)
  if (privateKey.asymmetricKeyType !== 'ed25519') throw wrongType(privateKey.asymmetricKeyType ?? 'unknown')
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

const OPENSSH =
  /-----BEGIN OPENSSH PRIVATE KEY-----\r?\n([A-Za-z0-9+/=\s]+)\r?\n-----END OPENSSH PRIVATE KEY-----/

const MAGIC = 'openssh-key-v1\0'

function fromOpenSsh(bytes: Buffer): KeyObject {
  const reader = new SshReader(bytes)
  if (reader.take(MAGIC.length).toString('latin1') !== MAGIC) throw damaged('it does not begin as a key')
  const [cipher, kdf] = [reader.text(), reader.text()]
  if (cipher !== 'none' || kdf !== 'none') throw hasPassphrase()
  reader.string() // options of the key derivation; empty
  const count = reader.uint32()
  if (count !== 1) throw damaged(`it holds ${count} keys instead of one`)
  reader.string() // the public key, which the private part repeats
  return fromPrivatePart(reader.string())
}

/** The private part: two equal check numbers, the key, a comment, and a padding of 1, 2, 3 …. */
function fromPrivatePart(bytes: Buffer): KeyObject {
  const reader = new SshReader(bytes)
  if (reader.uint32() !== reader.uint32()) throw damaged('its check numbers differ')
  const type = reader.text()
  if (type !== ED25519) throw wrongType(type)
  const publicKey = reader.string()
  const secret = reader.string() // the seed, then the public key again
  if (secret.length !== 64) throw damaged(`its key has ${secret.length} bytes instead of 64`)
  const seed = secret.subarray(0, 32)
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      d: seed.toString('base64url'),
      x: publicKey.toString('base64url'),
    },
  })
  if (!publicKeyOf(key).blob.subarray(-32).equals(publicKey)) throw damaged('its two halves do not match')
  return key
}

function fromPem(text: string): KeyObject {
  if (text.includes('-----BEGIN ENCRYPTED PRIVATE KEY-----') || text.includes('Proc-Type: 4,ENCRYPTED'))
    throw hasPassphrase()
  if (/-----BEGIN (?:SSH2 )?PUBLIC KEY-----|^ssh-/m.test(text)) {
    throw new CorruptObject('is a public key; name the file of the private one, which has no .pub at its end')
  }
  try {
    return createPrivateKey(text)
  } catch {
    // OpenSSL's message would be about its own decoders.
    throw new CorruptObject('is no private key of OpenSSH or in PEM; make one with ssh-keygen -t ed25519')
  }
}

function hasPassphrase(): CorruptObject {
  return new CorruptObject(
    'has a passphrase, which nobody is there to type; take it off a copy with ssh-keygen -p -N ""',
  )
}

function wrongType(type: string): CorruptObject {
  return new CorruptObject(`is a key of the type ${type}; make one with ssh-keygen -t ed25519`)
}

function damaged(why: string): CorruptObject {
  return new CorruptObject(`is damaged: ${why}`)
}
