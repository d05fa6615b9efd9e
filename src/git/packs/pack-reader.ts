import type { LRUCache } from 'lru-cache'
import type { Fs } from '../../storage/files.ts'
import { CorruptObject } from '../objects/errors.ts'
import type { GitObject } from '../objects/object.ts'
import { inflateExactly, type Entry, type EntrySource, readEntry } from './pack-entry.ts'
import type { PackIndex } from './pack-index-reader.ts'
import { type FileCache, ReadAheadBuffer, WindowedFile } from './windowed-file.ts'

/** Windows of a larger pack would displace each other in the cache, so a random read of it reads less at once. */
const VAST = 8 * 1024 * 1024
/** Bytes of such a read: the first time, and when a read continues the previous one. */
const SHORT_PIECE = 4 * 1024
const MIDDLING_PIECE = 64 * 1024

/** Bytes that a reader of consecutive entries reads at once: the first time, and at most. More would not stay in a processor's cache. */
const FIRST_PIECE = 32 * 1024
const LONGEST_PIECE = 256 * 1024

/** An object of a pack, and the offset of the next entry if it is known. */
export interface PackedObject extends GitObject {
  readonly next: number | undefined
}

/** Caches that open packs share. */
export interface PackReadCache extends FileCache {
  /** Recently used bases of deltas, and results of deltas, by pack and offset. */
  readonly bases: LRUCache<string, GitObject>
}

/**
 * A pack with its index. Reading throws `CorruptObject` for invalid bytes and `PackGone` if the file is gone. It does not compare objects
 * with their ids.
 */
export class PackReader {
  readonly index: PackIndex
  readonly path: string
  readonly #fs: Fs
  readonly #cache: PackReadCache
  readonly #serial: number
  #file: WindowedFile | undefined
  #entries: EntrySource | undefined

  constructor(fs: Fs, cache: PackReadCache, path: string, index: PackIndex) {
    this.#fs = fs
    this.#cache = cache
    this.#serial = cache.nextSerial()
    this.path = path
    this.index = index
  }

  /**
   * The object whose entry is at `offset`, built from its deltas, however long their chain is. `source`, a piece of this pack, is used for
   * the entry itself, not for its bases.
   */
  read(offset: number, source?: EntrySource): PackedObject {
    const entries = this.#openEntries()
    const deltas: { readonly at: number; readonly bytes: Buffer }[] = []
    let next: number | undefined
    let object: GitObject | undefined
    for (let at = offset; !object;) {
      const entry = readEntry(at === offset ? (source ?? entries) : entries, at)
      // only deltas and their bases are cached: most objects are not the base of another
      object = entry.kind && deltas.length === 0 ? undefined : this.#cache.bases.get(this.#baseKey(at))
      if (object) break
      const { bytes, streamLength } = inflateExactly(entry.deflated, entry.size)
      if (at === offset) next = entry.position + streamLength
      if (entry.kind) {
        object = { kind: entry.kind, bytes }
        if (deltas.length > 0) this.#cache.bases.set(this.#baseKey(at), object)
      } else {
        if (deltas.length > this.index.count) throw new CorruptObject('a chain of deltas runs in a circle')
        deltas.push({ at, bytes })
        at = this.#baseOf(entry, at)
      }
    }
    for (const delta of deltas.reverse()) {
      object = { kind: object.kind, bytes: applyDelta(object.bytes, delta.bytes) }
      this.#cache.bases.set(this.#baseKey(delta.at), object)
    }
    return { kind: object.kind, bytes: object.bytes, next }
  }

  /** A source for reading consecutive entries. */
  pieces(): EntrySource {
    return new ReadAheadBuffer(this.#open(), FIRST_PIECE, LONGEST_PIECE)
  }

  #openEntries(): EntrySource {
    if (this.#entries) return this.#entries
    const file = this.#open()
    return (this.#entries = file.size > VAST ? new ReadAheadBuffer(file, SHORT_PIECE, MIDDLING_PIECE) : file)
  }

  #open(): WindowedFile {
    if (this.#file) return this.#file
    const file = new WindowedFile(this.#fs, this.#cache, this.path)
    const { bytes } = file.at(0, 12)
    if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'PACK')
      throw new CorruptObject('it is not a pack')
    const version = bytes.readUInt32BE(4)
    if (version !== 2 && version !== 3) throw new CorruptObject(`pack version ${version} is not known`)
    if (bytes.readUInt32BE(8) !== this.index.count) {
      throw new CorruptObject('the pack and its index hold different numbers of objects')
    }
    return (this.#file = file)
  }

  #baseKey(offset: number): string {
    return `${this.#serial}:${offset}`
  }

  #baseOf(entry: Entry, at: number): number {
    if (entry.baseOid === undefined) {
      const base = at - (entry.baseDistance ?? 0)
      if (base < 12 || base >= at) throw new CorruptObject('a delta names a base outside of the pack')
      return base
    }
    const base = this.index.find(entry.baseOid)
    if (base === undefined)
      throw new CorruptObject(`a delta needs ${entry.baseOid}, which is not in the pack`)
    return base
  }
}

/**
 * The object that `delta` makes from `base` (gitformat-pack, "Deltified representation"): two sizes, then instructions that copy a piece of
 * the base or insert bytes. Throws `CorruptObject` if anything does not fit.
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const readSize = () => {
    let size = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = byteAt(delta, at++)
      size += (byte & 127) * factor
      if (byte < 128) return size
    }
  }
  if (readSize() !== base.length) throw new CorruptObject('a delta was made for a base of another size')
  const size = readSize()
  // every byte of a delta copies at most 0xffffff bytes, so a larger size is wrong, and must not reserve memory
  if (size > delta.length * 0xffffff) throw new CorruptObject('a delta promises more than it can hold')
  const result = Buffer.allocUnsafe(size)
  let filled = 0
  while (at < delta.length) {
    const instruction = byteAt(delta, at++)
    if (instruction >= 128) {
      let offset = 0
      let length = 0
      if (instruction & 1) offset = byteAt(delta, at++)
      if (instruction & 2) offset += byteAt(delta, at++) * 0x100
      if (instruction & 4) offset += byteAt(delta, at++) * 0x10000
      if (instruction & 8) offset += byteAt(delta, at++) * 0x1000000
      if (instruction & 16) length = byteAt(delta, at++)
      if (instruction & 32) length += byteAt(delta, at++) * 0x100
      if (instruction & 64) length += byteAt(delta, at++) * 0x10000
      if (length === 0) length = 0x10000
      if (offset + length > base.length || filled + length > size) throw overrun()
      base.copy(result, filled, offset, offset + length)
      filled += length
    } else if (instruction > 0) {
      if (at + instruction > delta.length || filled + instruction > size) throw overrun()
      delta.copy(result, filled, at, at + instruction)
      at += instruction
      filled += instruction
    } else {
      throw new CorruptObject('a delta holds the reserved instruction 0')
    }
  }
  if (filled !== size) throw new CorruptObject('a delta ends before its object is complete')
  return result
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new CorruptObject('a delta is cut short')
  return byte
}

function overrun(): CorruptObject {
  return new CorruptObject('a delta reaches past the end of its base or of its object')
}
