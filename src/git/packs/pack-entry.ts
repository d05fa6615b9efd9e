import { inflateSync } from 'node:zlib'
import { CorruptObject } from '../objects/errors.ts'
import type { ObjectKind } from '../objects/object.ts'
import { objectKinds } from '../objects/object.ts'
import type { FileWindow } from './windowed-file.ts'

/** The entry types of deltas (gitformat-pack): the base is an entry at a distance in this pack, or an object by its id. */
const OFFSET_DELTA = 6
const REFERENCE_DELTA = 7

/** The longest header of an entry: ten bytes of type and size, then an id or a distance of at most ten bytes. */
const LONGEST_HEADER = 30

/** The source of entries: a pack, or the written part of a new one. */
export interface EntrySource {
  /** Bytes of the whole file, with the 20 bytes of its checksum. */
  readonly size: number
  /** A window of `length` bytes from `position` on; shorter only at the end of the file. */
  at(position: number, length: number): FileWindow
}

/** An entry of a pack. */
export interface Entry {
  /** Undefined for a delta, whose kind is that of its base. */
  readonly kind: ObjectKind | undefined
  /** How many bytes the entry inflates to. */
  readonly size: number
  /** The position of its deflated bytes in the pack. */
  readonly position: number
  /** Begins with the entry's deflated bytes, whose length is not recorded. Valid until the next read from the source. */
  readonly deflated: Buffer
  readonly baseDistance?: number
  readonly baseOid?: string
}

/** The entry at `offset`. Throws `CorruptObject` for invalid bytes. */
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
  // deflated data is never longer than this
  const longest = Math.min(size + Math.ceil(size / 4) + 1024, source.size - position)
  const { bytes, start } = source.at(position, longest)
  return bytes.subarray(position - start)
}

function cutShort(): CorruptObject {
  return new CorruptObject('the pack is cut short')
}

/** The content of a zlib stream, and the length of the stream itself. */
export interface Inflated {
  readonly bytes: Buffer
  readonly streamLength: number
}

/**
 * Inflates the zlib stream at the start of `bytes`, which must yield exactly `size` bytes; ignores bytes after the stream. Throws
 * `CorruptObject` if it is broken or of another size.
 */
export function inflateExactly(bytes: Buffer, size: number): Inflated {
  const stored = readStored(bytes, size)
  if (stored) return { bytes: stored, streamLength: size + STORED_OVERHEAD }
  // one byte more than needed lets zlib see the end of the stream in the first chunk; 64 is the least it takes
  const inflated = inflate(bytes, Math.max(64, size + 1), Math.max(1, size))
  if (inflated.bytes.length !== size) throw new CorruptObject('a deflated stream is shorter than announced')
  return inflated
}

/** A stored stream is longer than its content: two bytes of zlib header, five of block header, four of checksum. */
const STORED_OVERHEAD = 11

/** The most bytes that one stored block can hold (RFC 1951, 3.2.4). */
const LONGEST_STORED = 0xffff

const ZLIB_HEADER = 0x7801
const FINAL_STORED_BLOCK = 1

/**
 * The zlib stream of one stored block (RFC 1950, 1951) with `bytes`, at most `LONGEST_STORED`. Any zlib reads it, and neither writing nor
 * reading it needs zlib.
 */
export function storedStream(bytes: Uint8Array): Buffer {
  const stream = Buffer.allocUnsafe(bytes.length + STORED_OVERHEAD)
  stream.writeUInt16BE(ZLIB_HEADER)
  stream[2] = FINAL_STORED_BLOCK
  stream.writeUInt16LE(bytes.length, 3)
  stream.writeUInt16LE(~bytes.length & 0xffff, 5)
  stream.set(bytes, 7)
  stream.writeUInt32BE(adler32(bytes), 7 + bytes.length)
  return stream
}

/** A copy of the `size` bytes stored at the start of `bytes`; undefined unless they have exactly the form that `storedStream` makes. */
export function readStored(bytes: Buffer, size: number): Buffer | undefined {
  if (bytes[0] !== 0x78 || bytes[1] !== 0x01 || bytes[2] !== FINAL_STORED_BLOCK) return undefined
  if (size > LONGEST_STORED || bytes.length < size + STORED_OVERHEAD) return undefined
  if (bytes.readUInt16LE(3) !== size || bytes.readUInt16LE(5) !== (~size & 0xffff)) return undefined
  // a copy, so that a few kept rows do not keep the whole window in memory
  const content = Buffer.allocUnsafe(size)
  bytes.copy(content, 0, 7, 7 + size)
  return adler32(content) === bytes.readUInt32BE(7 + size) ? content : undefined
}

/** The checksum of RFC 1950, for which node:zlib needs a stream. For a stored block the sums are exact without a rest in between. */
function adler32(bytes: Uint8Array): number {
  let a = 1
  let b = 0
  for (let at = 0; at < bytes.length; at++) {
    a += bytes[at]! // at < bytes.length
    b += a
  }
  return (b % 65521) * 0x10000 + (a % 65521)
}

/** Inflates the zlib stream at the start of `bytes`, of any size. Throws `CorruptObject` if it is broken. */
export function inflateWhole(bytes: Buffer): Buffer {
  return inflate(bytes, Math.max(1024, 4 * bytes.length)).bytes
}

function inflate(bytes: Buffer, chunkSize: number, maxOutputLength?: number): Inflated {
  const options = { chunkSize, info: true, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) }
  try {
    // with `info` node also answers the engine, which its declared type leaves out
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
