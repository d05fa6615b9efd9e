import * as crypto from 'node:crypto'

/** A git object id: 40 lower-case hex digits, the SHA-1 of the object with its header. */
export type Oid = string

/** The four kinds of object git has (gitformat-pack: the pack types 1 to 4, in this order). */
export const objectKinds = ['commit', 'tree', 'blob', 'tag'] as const

export type ObjectKind = (typeof objectKinds)[number]

/** An object as it is addressed: its kind and its bytes without header. The bytes may be shared: never change them. */
export interface GitObject {
  readonly kind: ObjectKind
  readonly bytes: Buffer
}

/** Objects up to this size are joined with their header in one place and hashed in one call, at half the cost. */
const joined = Buffer.allocUnsafeSlow(16 * 1024)
const LONGEST_HEADER = 32
/** Its beginnings by length, each made once: making one costs a fourth of what hashing a row does. */
const beginnings: Buffer[] = []

/** The id git gives to these bytes: SHA-1 over `<kind> <size>\0<bytes>`. */
export function hashObject(kind: ObjectKind, bytes: Uint8Array): Oid {
  const header = `${kind} ${bytes.length}\0`
  if (bytes.length > joined.length - LONGEST_HEADER) {
    return crypto.createHash('sha1').update(header).update(bytes).digest('hex')
  }
  // so short a text is written sooner than `write` begins to
  for (let at = 0; at < header.length; at++) joined[at] = header.charCodeAt(at)
  joined.set(bytes, header.length)
  const length = header.length + bytes.length
  return crypto.hash('sha1', (beginnings[length] ??= joined.subarray(0, length)), 'hex')
}
