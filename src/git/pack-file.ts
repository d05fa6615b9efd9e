import { applyDelta } from './delta.ts'
import type { Fs } from './fs.ts'
import { inflateExactly } from './inflate.ts'
import { objectKinds, type GitObject, type ObjectKind } from './object.ts'
import type { PackCache } from './pack-cache.ts'
import type { PackIndex } from './pack-index.ts'
import { Unreadable } from './unreadable.ts'
import { WindowedFile } from './windowed-file.ts'

/** The entry types that are deltas (gitformat-pack): on an entry so many bytes before, or on an object by its id. */
const OFFSET_DELTA = 6
const REFERENCE_DELTA = 7

/** The longest header of an entry: ten bytes of type and size, then an id or a distance of at most ten bytes. */
const LONGEST_HEADER = 30

/**
 * A pack with its index. Reading throws `Unreadable` for bytes that are no sound entry and `Vanished` when the file is
 * gone; objects are not yet compared with their ids.
 */
export class PackFile {
  readonly index: PackIndex
  readonly path: string
  readonly #fs: Fs
  readonly #cache: PackCache
  readonly #serial: number
  #file: WindowedFile | undefined

  constructor(fs: Fs, cache: PackCache, path: string, index: PackIndex) {
    this.#fs = fs
    this.#cache = cache
    this.#serial = cache.nextSerial()
    this.path = path
    this.index = index
  }

  /** The object whose entry starts at `offset`, put together from its deltas however long their chain is. */
  read(offset: number): GitObject {
    const file = this.#open()
    const deltas: { readonly at: number; readonly bytes: Buffer }[] = []
    let object: GitObject | undefined
    for (let at = offset; !object;) {
      const entry = readEntry(file, at)
      // only deltas and what they are built on are kept: most objects are nobody's base
      object = entry.kind && deltas.length === 0 ? undefined : this.#cache.bases.get(this.#baseKey(at))
      if (object) break
      const bytes = inflateExactly(entry.deflated, entry.size)
      if (entry.kind) {
        object = { kind: entry.kind, bytes }
        if (deltas.length > 0) this.#cache.bases.set(this.#baseKey(at), object)
      } else {
        if (deltas.length > this.index.count) throw new Unreadable('a chain of deltas runs in a circle')
        deltas.push({ at, bytes })
        at = this.#baseOf(entry, at)
      }
    }
    for (const delta of deltas.reverse()) {
      object = { kind: object.kind, bytes: applyDelta(object.bytes, delta.bytes) }
      this.#cache.bases.set(this.#baseKey(delta.at), object)
    }
    return object
  }

  #open(): WindowedFile {
    if (this.#file) return this.#file
    const file = new WindowedFile(this.#fs, this.#cache, this.path)
    const { bytes } = file.at(0, 12)
    if (bytes.length < 12 || bytes.toString('latin1', 0, 4) !== 'PACK')
      throw new Unreadable('it is not a pack')
    const version = bytes.readUInt32BE(4)
    if (version !== 2 && version !== 3) throw new Unreadable(`pack version ${version} is not known`)
    if (bytes.readUInt32BE(8) !== this.index.count) {
      throw new Unreadable('the pack and its index hold different numbers of objects')
    }
    return (this.#file = file)
  }

  #baseKey(offset: number): string {
    return `${this.#serial}:${offset}`
  }

  #baseOf(entry: Entry, at: number): number {
    if (entry.baseOid === undefined) {
      const base = at - (entry.baseDistance ?? 0)
      if (base < 12 || base >= at) throw new Unreadable('a delta names a base outside of the pack')
      return base
    }
    const base = this.index.find(entry.baseOid)
    if (base === undefined) throw new Unreadable(`a delta needs ${entry.baseOid}, which is not in the pack`)
    return base
  }
}

interface Entry {
  /** Undefined for a delta, whose kind is that of its base. */
  readonly kind: ObjectKind | undefined
  /** How many bytes the entry inflates to. */
  readonly size: number
  /** Starts with its deflated bytes; how many they are is written nowhere. */
  readonly deflated: Buffer
  readonly baseDistance?: number
  readonly baseOid?: string
}

function readEntry(file: WindowedFile, offset: number): Entry {
  if (offset >= file.size - 20) throw cutShort()
  const { bytes, start } = file.at(offset, LONGEST_HEADER)
  let at = offset - start
  let byte = bytes[at++] ?? 0
  const type = (byte >> 4) & 7
  let size = byte & 15
  for (let factor = 16; byte >= 128; factor *= 128) {
    byte = bytes[at++] ?? 0
    size += (byte & 127) * factor
  }
  const kind = objectKinds[type - 1]
  if (kind) return { kind, size, deflated: deflatedBytes(file, start + at, size) }
  if (type === OFFSET_DELTA) {
    byte = bytes[at++] ?? 0
    let baseDistance = byte & 127
    while (byte >= 128) {
      byte = bytes[at++] ?? 0
      baseDistance = (baseDistance + 1) * 128 + (byte & 127)
    }
    return { kind: undefined, size, deflated: deflatedBytes(file, start + at, size), baseDistance }
  }
  if (type === REFERENCE_DELTA) {
    const baseOid = bytes.toString('hex', at, at + 20)
    return { kind: undefined, size, deflated: deflatedBytes(file, start + at + 20, size), baseOid }
  }
  throw new Unreadable(`the pack holds an entry of the unknown type ${type}`)
}

function deflatedBytes(file: WindowedFile, position: number, size: number): Buffer {
  if (position > file.size - 20) throw cutShort()
  if (size > file.size * 1100) throw new Unreadable('an entry claims more bytes than its pack can hold')
  // deflating makes nothing longer than this
  const { bytes, start } = file.at(
    position,
    Math.min(size + Math.ceil(size / 4) + 1024, file.size - position),
  )
  return bytes.subarray(position - start)
}

function cutShort(): Unreadable {
  return new Unreadable('the pack is cut short')
}
