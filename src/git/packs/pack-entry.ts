import { inflateSync } from 'node:zlib'
import { CorruptObject } from '../objects/errors.ts'
import type { ObjectKind } from '../objects/object.ts'
import { objectKinds } from '../objects/object.ts'
import { adler32, FINAL_STORED_BLOCK, LONGEST_STORED, STORED_OVERHEAD } from './pack-writer.ts'
import type { FileWindow } from './windowed-file.ts'

/** The entry types that are deltas (gitformat-pack): on an entry so many bytes before, or on an object by its id. */
const OFFSET_DELTA = 6
const REFERENCE_DELTA = 7

/** The longest header of an entry: ten bytes of type and size, then an id or a distance of at most ten bytes. */
const LONGEST_HEADER = 30

/** Where entries are read from: a pack, or what is written of one so far. */
export interface EntrySource {
  /** Bytes of the whole file, its 20 of checksum included. */
  readonly size: number
  /** A window that holds `length` bytes from `position` on, fewer only where the file ends. */
  at(position: number, length: number): FileWindow
}

/** An entry as it lies in its pack. */
export interface Entry {
  /** Undefined for a delta, whose kind is that of its base. */
  readonly kind: ObjectKind | undefined
  /** How many bytes the entry inflates to. */
  readonly size: number
  /** Where in the pack its deflated bytes start. */
  readonly position: number
  /** Starts with its deflated bytes; how many they are is written nowhere. Gone with the next look at the source. */
  readonly deflated: Buffer
  readonly baseDistance?: number
  readonly baseOid?: string
}

/** The entry that starts at `offset`. Throws `CorruptObject` for bytes that are none. */
export function readEntry(source: EntrySource, offset: number): Entry {
  if (offset >= source.size - 20) throw cutShort()
  const { bytes, start } = source.at(offset, LONGEST_HEADER)
  let at = offset - start
  let byte = bytes[at++] ?? 0
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let factor = 16; byte >= 128; factor *= 128) {
    byte = bytes[at++] ?? 0
    size += (byte & 127) * factor
  }
  const kind = objectKinds[type - 1]
  if (kind) return { kind, size, position: start + at, deflated: deflatedBytes(source, start + at, size) }
  if (type === OFFSET_DELTA) {
    byte = bytes[at++] ?? 0
    let baseDistance = byte & 127
    while (byte >= 128) {
      byte = bytes[at++] ?? 0
      baseDistance = (baseDistance + 1) * 128 + (byte & 127)
    }
    const position = start + at
    return { kind: undefined, size, position, deflated: deflatedBytes(source, position, size), baseDistance }
  }
  if (type === REFERENCE_DELTA) {
    const baseOid = bytes.toString('hex', at, at + 20)
    const position = start + at + 20
    return { kind: undefined, size, position, deflated: deflatedBytes(source, position, size), baseOid }
  }
  throw new CorruptObject(`the pack holds an entry of the unknown type ${type}`)
}

function deflatedBytes(source: EntrySource, position: number, size: number): Buffer {
  if (position > source.size - 20) throw cutShort()
  if (size > source.size * 1100) throw new CorruptObject('an entry claims more bytes than its pack can hold')
  // deflating makes nothing longer than this
  const longest = Math.min(size + Math.ceil(size / 4) + 1024, source.size - position)
  const { bytes, start } = source.at(position, longest)
  return bytes.subarray(position - start)
}

function cutShort(): CorruptObject {
  return new CorruptObject('the pack is cut short')
}

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

/** A copy of the `size` bytes stored at the start of `bytes`; undefined unless exactly what `writeStored` writes stands there. */
export function readStored(bytes: Buffer, size: number): Buffer | undefined {
  if (bytes[0] !== 0x78 || bytes[1] !== 0x01 || bytes[2] !== FINAL_STORED_BLOCK) return undefined
  if (size > LONGEST_STORED || bytes.length < size + STORED_OVERHEAD) return undefined
  if (bytes.readUInt16LE(3) !== size || bytes.readUInt16LE(5) !== (~size & 0xffff)) return undefined
  // a copy: what is kept of a few rows must not keep the whole window that they were read with
  const content = Buffer.allocUnsafe(size)
  bytes.copy(content, 0, 7, 7 + size)
  return adler32(content) === bytes.readUInt32BE(7 + size) ? content : undefined
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
