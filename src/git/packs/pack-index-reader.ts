import { hash } from 'node:crypto'
import type { Fs } from '../../storage/files.ts'
import { CorruptObject, PackGone } from '../objects/errors.ts'
import type { Oid } from '../objects/object.ts'
import { type FileCache, ReadAheadBuffer, FileWindow, WindowedFile } from './windowed-file.ts'

/** An index of up to this size is kept whole; 256 KiB have about 9,000 objects. */
const WHOLE = 256 * 1024

/**
 * A larger index (300,000 objects) would displace everything in the cache of windows. So each lookup reads only a few KiB around the
 * expected place of the id, and keeps nothing.
 */
const VAST = 8 * 1024 * 1024
/** Ids that are read around that place. In an index of a million, they include the right one 999 times in 1000. */
const NEAR = 256

const FAN_OUT = 8
const OIDS = FAN_OUT + 256 * 4
const TRAILER = 2 * 20

/**
 * The index of a pack, version 2 (gitformat-pack): the objects of the pack and their offsets. Throws `CorruptObject` if the file is damaged
 * or of another version, `PackGone` if it is gone.
 */
export class PackIndex {
  readonly path: string
  /** How many objects the pack holds. */
  readonly count: number
  /** How many bytes of memory this object holds for as long as it lives. */
  readonly heldBytes: number
  readonly #source: FileWindow | WindowedFile | ReadAheadBuffer
  /** The beginning of the file; for a large index its first window, which is kept. */
  readonly #head: DataView

  constructor(fs: Fs, cache: FileCache, path: string) {
    this.path = path
    this.#source = openSource(fs, cache, path)
    const size = this.#source instanceof FileWindow ? this.#source.bytes.length : this.#source.size
    if (size < OIDS + TRAILER) throw new CorruptObject('the pack index is cut short')
    const head = this.#headView()
    if (head.getUint32(0) !== 0xff744f63 || head.getUint32(4) !== 2) {
      throw new CorruptObject('the pack index is not of version 2; git index-pack writes it anew')
    }
    this.#head = head
    this.heldBytes = head.byteLength + (this.#source instanceof ReadAheadBuffer ? NEAR * 20 : 0)
    this.count = this.#below(256)
    const long = (size - OIDS - TRAILER - this.count * 28) / 8
    if (!Number.isInteger(long) || long < 0 || long > this.count || !this.#isAscending()) {
      throw new CorruptObject('the pack index is cut short or its object counts are wrong')
    }
  }

  /** The object's offset in the pack, or undefined if the pack does not have it. */
  find(oid: Oid): number | undefined {
    for (let number = this.#lowerBound(oid); number < this.count; number++) {
      const other = this.#oid(number)
      if (other === oid) return this.#offset(number)
      if (other > oid) break
    }
    return undefined
  }

  /** The objects whose ids start with these hex digits, in order of their ids. */
  startingWith(hexPrefix: string): Oid[] {
    const found: Oid[] = []
    for (let number = this.#lowerBound(hexPrefix); number < this.count; number++) {
      const oid = this.#oid(number)
      if (oid.startsWith(hexPrefix)) found.push(oid)
      else if (oid > hexPrefix) break
    }
    return found
  }

  /** Every object of the pack, in order of their ids. */
  *oids(): Generator<Oid> {
    for (let number = 0; number < this.count; number++) yield this.#oid(number)
  }

  #at(position: number, length: number): FileWindow {
    return this.#source instanceof FileWindow ? this.#source : this.#source.at(position, length)
  }

  #headView(): DataView {
    const { bytes, view } = this.#at(0, OIDS)
    // a copy, because the next piece overwrites this one
    return this.#source instanceof ReadAheadBuffer ? new FileWindow(Buffer.from(bytes), 0).view : view
  }

  /** The number of objects whose first byte is smaller than this one. */
  #below(firstByte: number): number {
    return firstByte === 0 ? 0 : this.#head.getUint32(FAN_OUT + (firstByte - 1) * 4)
  }

  #isAscending(): boolean {
    const head = this.#head
    for (let at = FAN_OUT + 4, before = head.getUint32(FAN_OUT); at < OIDS; at += 4) {
      const count = head.getUint32(at)
      if (count < before) return false
      before = count
    }
    return true
  }

  /** The first object whose first 32 bits are not less than those of the prefix. */
  #lowerBound(hexPrefix: string): number {
    const head = Number.parseInt(hexPrefix.slice(0, 8).padEnd(8, '0'), 16)
    let low = this.#below(head >>> 24)
    let high = this.#below((head >>> 24) + 1)
    if (this.#source instanceof ReadAheadBuffer) [low, high] = this.#narrow(head, low, high)
    if (low === high) return low
    const { view, start } = this.#at(OIDS + low * 20, (high - low) * 20)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (view.getUint32(OIDS + middle * 20 - start) < head) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Narrows the range `low` to `high` to at most `NEAR` positions that include the lower bound: ids are spread evenly. */
  #narrow(head: number, low: number, high: number): readonly [number, number] {
    let least = head - (head % 0x1000000)
    let most = least + 0x1000000
    for (let step = 0; high - low > NEAR; step++) {
      // if ids are not spread evenly, this takes at most twice the steps of halving
      const part = step % 2 === 0 ? (head - least) / (most - least || 1) : 0.5
      const guess = low + Math.floor(part * (high - low))
      const from = Math.min(Math.max(guess - NEAR / 2, low), high - NEAR)
      const { view, start } = this.#at(OIDS + from * 20, NEAR * 20)
      const first = view.getUint32(OIDS + from * 20 - start)
      const last = view.getUint32(OIDS + (from + NEAR - 1) * 20 - start)
      if (head > last) [low, least] = [from + NEAR, last]
      else if (head <= first) [high, most] = [from, first]
      else return [from, from + NEAR]
    }
    return [low, high]
  }

  #oid(number: number): Oid {
    const position = OIDS + number * 20
    const { bytes, start } = this.#at(position, 20)
    return bytes.toString('hex', position - start, position - start + 20)
  }

  #offset(number: number): number {
    const offsets = OIDS + this.count * 24
    const offset = this.#uint32(offsets + number * 4)
    if (offset < 0x80000000) return offset
    const long = offsets + this.count * 4 + (offset - 0x80000000) * 8
    return this.#uint32(long) * 0x100000000 + this.#uint32(long + 4)
  }

  #uint32(position: number): number {
    const { view, start } = this.#at(position, 4)
    if (position - start + 4 > view.byteLength)
      throw new CorruptObject('the pack index points past its own end')
    return view.getUint32(position - start)
  }
}

function openSource(fs: Fs, cache: FileCache, path: string): FileWindow | WindowedFile | ReadAheadBuffer {
  const size = fs.stat(path)?.size ?? 0
  if (size > WHOLE) {
    const file = new WindowedFile(fs, cache, path)
    return size > VAST ? new ReadAheadBuffer(file, NEAR * 20) : file
  }
  const bytes = fs.readFile(path)
  if (!bytes) throw new PackGone(`${path} is gone.`)
  // an index kept whole is checked whole, so that damage cannot hide an object
  const end = Math.max(0, bytes.length - 20)
  if (hash('sha1', bytes.subarray(0, end), 'hex') !== bytes.toString('hex', end))
    throw new CorruptObject('the pack index does not match its checksum')
  return new FileWindow(bytes, 0)
}
