import { inflateSync } from 'node:zlib'
import { CorruptObject } from '../objects/errors.ts'
import { STORED_OVERHEAD, readStored } from './stored-deflate.ts'

/** What a zlib stream held, and how many bytes the stream itself takes. */
export interface Inflated {
  readonly bytes: Buffer
  readonly streamLength: number
}

/**
 * Inflates the zlib stream at the start of `bytes`, which must yield exactly `size` bytes; what follows the stream is
 * not looked at. Throws `CorruptObject` if it is broken or of another size.
 */
export function inflateExactly(bytes: Buffer, size: number): Inflated {
  const stored = readStored(bytes, size)
  if (stored) return { bytes: stored, streamLength: size + STORED_OVERHEAD }
  // one byte more than needed lets zlib see the end of the stream in the first chunk; 64 is the least it takes
  const inflated = inflate(bytes, Math.max(64, size + 1), Math.max(1, size))
  if (inflated.bytes.length !== size) throw new CorruptObject('a deflated stream is shorter than announced')
  return inflated
}

/** Inflates the zlib stream at the start of `bytes`, however much that yields. Throws `CorruptObject` if it is broken. */
export function inflateWhole(bytes: Buffer): Buffer {
  return inflate(bytes, Math.max(1024, 4 * bytes.length)).bytes
}

function inflate(bytes: Buffer, chunkSize: number, maxOutputLength?: number): Inflated {
  const options = { chunkSize, info: true, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) }
  try {
    // with `info` node answers the engine beside the bytes, which its declared type leaves out
    const { buffer, engine } = inflateSync(bytes, options) as unknown as InflatedWithInfo
    return { bytes: buffer, streamLength: engine.bytesWritten }
  } catch (error) {
    throw new CorruptObject(`a deflated stream is broken (${(error as Error).message})`) // zlib throws Errors only
  }
}

interface InflatedWithInfo {
  readonly buffer: Buffer
  readonly engine: { readonly bytesWritten: number }
}
