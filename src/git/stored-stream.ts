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
  target.set(bytes, at + 7)
  target.writeUInt32BE(adler32(bytes), at + 7 + bytes.length)
}

/** A copy of the `size` bytes stored at the start of `bytes`; undefined unless exactly what `writeStored` writes stands there. */
export function readStored(bytes: Buffer, size: number): Buffer | undefined {
  if (bytes[0] !== 0x78 || bytes[1] !== 0x01 || bytes[2] !== FINAL_STORED_BLOCK) return undefined
  if (size > LONGEST_STORED || bytes.length < size + STORED_OVERHEAD) return undefined
  if (bytes.readUInt16LE(3) !== size || bytes.readUInt16LE(5) !== (~size & 0xffff)) return undefined
  const content = bytes.subarray(7, 7 + size)
  if (adler32(content) !== bytes.readUInt32BE(7 + size)) return undefined
  // a copy: what is kept of a few rows must not keep the whole window that they were read with
  return Buffer.from(content)
}

/** The checksum of RFC 1950; node:zlib has none for short bytes without a stream. */
function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (let at = 0; at < bytes.length;) {
    // so many sums stay below 2^32 (zlib's NMAX)
    const end = Math.min(at + 5552, bytes.length)
    while (at < end) {
      a += bytes[at++]! // at < length
      b += a
    }
    a %= 65521
    b %= 65521
  }
  return b * 0x10000 + a
}
