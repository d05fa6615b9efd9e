import { inflateSync } from 'node:zlib'
import { Unreadable } from './unreadable.ts'

/**
 * Inflates the zlib stream at the start of `bytes`, which must yield exactly `size` bytes; what follows the stream is
 * not looked at. Throws `Unreadable` if it is broken or of another size.
 */
export function inflateExactly(bytes: Buffer, size: number): Buffer {
  // one byte more than needed lets zlib see the end of the stream in the first chunk; 64 is the least it takes
  const result = inflate(bytes, Math.max(64, size + 1), Math.max(1, size))
  if (result.length !== size) throw new Unreadable('a deflated stream is shorter than announced')
  return result
}

/** Inflates the zlib stream at the start of `bytes`, however much that yields. Throws `Unreadable` if it is broken. */
export function inflateWhole(bytes: Buffer): Buffer {
  return inflate(bytes, Math.max(1024, 4 * bytes.length))
}

function inflate(bytes: Buffer, chunkSize: number, maxOutputLength?: number): Buffer {
  try {
    return inflateSync(bytes, maxOutputLength === undefined ? { chunkSize } : { chunkSize, maxOutputLength })
  } catch (error) {
    throw new Unreadable(`a deflated stream is broken (${(error as Error).message})`) // zlib throws Errors only
  }
}
