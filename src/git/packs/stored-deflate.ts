/** What a stored stream is longer than its content: two bytes of zlib header, five of block header, four of checksum. */
export const STORED_OVERHEAD = 11

/** The most bytes that one stored block can hold (RFC 1951, 3.2.4). */
export const LONGEST_STORED = 0xffff

const ZLIB_HEADER = 0x7801
const FINAL_STORED_BLOCK = 1

/**
 * Writes `bytes` (at most `LONGEST_STORED`) to `target` from `at` on as a zlib stream of one stored block (RFC 1950, 1951): any
 * zlib reads it, and neither writing nor reading one needs zlib.
 */
export function writeStored(target: Buffer, at: number, bytes: Uint8Array): void {
  target.writeUInt16BE(ZLIB_HEADER, at)
  target[at + 2] = FINAL_STORED_BLOCK
  target.writeUInt16LE(bytes.length, at + 3)
  target.writeUInt16LE(~bytes.length & 0xffff, at + 5)
  target.writeUInt32BE(copyWithChecksum(bytes, 0, bytes.length, target, at + 7), at + 7 + bytes.length)
}

/** A copy of the `size` bytes stored at the start of `bytes`; undefined unless exactly what `writeStored` writes stands there. */
export function readStored(bytes: Buffer, size: number): Buffer | undefined {
  if (bytes[0] !== 0x78 || bytes[1] !== 0x01 || bytes[2] !== FINAL_STORED_BLOCK) return undefined
  if (size > LONGEST_STORED || bytes.length < size + STORED_OVERHEAD) return undefined
  if (bytes.readUInt16LE(3) !== size || bytes.readUInt16LE(5) !== (~size & 0xffff)) return undefined
  // a copy: what is kept of a few rows must not keep the whole window that they were read with
  const content = Buffer.allocUnsafe(size)
  return copyWithChecksum(bytes, 7, size, content, 0) === bytes.readUInt32BE(7 + size) ? content : undefined
}

/** Copies `size` bytes and answers their checksum of RFC 1950, for which node:zlib needs a stream. */
function copyWithChecksum(
  source: Uint8Array,
  from: number,
  size: number,
  target: Buffer,
  to: number,
): number {
  const distance = to - from
  let a = 1
  let b = 0
  for (let at = from; at < from + size;) {
    // so many sums stay below 2^31, where the compiler needs no doubles
    const end = Math.min(at + 3800, from + size)
    // four bytes a step take half the time
    for (; at + 3 < end; at += 4) {
      const first = source[at]! // at + 3 < end
      const second = source[at + 1]!
      const third = source[at + 2]!
      const fourth = source[at + 3]!
      target[at + distance] = first
      target[at + distance + 1] = second
      target[at + distance + 2] = third
      target[at + distance + 3] = fourth
      b += 4 * (a + first) + 3 * second + 2 * third + fourth
      a += first + second + third + fourth
    }
    for (; at < end; at++) {
      const byte = source[at]! // at < end
      target[at + distance] = byte
      a += byte
      b += a
    }
    a %= 65521
    b %= 65521
  }
  return b * 0x10000 + a
}
