import { createHash } from 'node:crypto'
import type { Fs } from './fs.ts'
import type { Oid } from './object.ts'
import type { PackCache } from './pack-cache.ts'
import { Unreadable } from './unreadable.ts'
import { Vanished } from './vanished.ts'
import { Window, WindowedFile } from './windowed-file.ts'

/** An index up to this size is held whole; 256 KiB are some 9,000 objects. */
const WHOLE = 256 * 1024

const FAN_OUT = 8
const OIDS = FAN_OUT + 256 * 4
const TRAILER = 2 * 20

/**
 * The index of a pack, version 2 (gitformat-pack): which objects the pack holds and where they start. Throws
 * `Unreadable` if the file is damaged or of another version, `Vanished` if it is gone.
 */
export class PackIndex {
  readonly path: string
  /** How many objects the pack holds. */
  readonly count: number
  /** How many bytes of memory this object holds for as long as it lives. */
  readonly heldBytes: number
  readonly #source: Window | WindowedFile
  /** Starts as the file does; of a large index the first window, which stays. */
  readonly #head: DataView

  constructor(fs: Fs, cache: PackCache, path: string) {
    this.path = path
    this.#source = openSource(fs, cache, path)
    const size = this.#source instanceof WindowedFile ? this.#source.size : this.#source.bytes.length
    if (size < OIDS + TRAILER) throw new Unreadable('the pack index is cut short')
    const head = this.#at(0, OIDS).view
    if (head.getUint32(0) !== 0xff744f63 || head.getUint32(4) !== 2) {
      throw new Unreadable('the pack index is not of version 2; git index-pack writes it anew')
    }
    this.#head = head
    this.heldBytes = head.byteLength
    this.count = this.#below(256)
    const long = (size - OIDS - TRAILER - this.count * 28) / 8
    if (!Number.isInteger(long) || long < 0 || long > this.count || !this.#isAscending()) {
      throw new Unreadable('the pack index is cut short or its object counts are wrong')
    }
  }

  /** Where the object starts in the pack, or undefined if the pack does not hold it. */
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

  #at(position: number, length: number): Window {
    return this.#source instanceof WindowedFile ? this.#source.at(position, length) : this.#source
  }

  /** How many objects have a first byte below this one. */
  #below(firstByte: number): number {
    return firstByte === 0 ? 0 : this.#head.getUint32(FAN_OUT + (firstByte - 1) * 4)
  }

  #isAscending(): boolean {
    for (let byte = 0; byte < 256; byte++) if (this.#below(byte) > this.#below(byte + 1)) return false
    return true
  }

  /** The first object whose first 32 bits are not less than those of the prefix. */
  #lowerBound(hexPrefix: string): number {
    const head = Number.parseInt(hexPrefix.slice(0, 8).padEnd(8, '0'), 16)
    let low = this.#below(head >>> 24)
    let high = this.#below((head >>> 24) + 1)
    if (low === high) return low
    const { view, start } = this.#at(OIDS + low * 20, (high - low) * 20)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (view.getUint32(OIDS + middle * 20 - start) < head) low = middle + 1
      else high = middle
    }
    return low
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
    if (position - start + 4 > view.byteLength) throw new Unreadable('the pack index points past its own end')
    return view.getUint32(position - start)
  }
}

function openSource(fs: Fs, cache: PackCache, path: string): Window | WindowedFile {
  const stat = fs.stat(path)
  if (stat && stat.size > WHOLE) return new WindowedFile(fs, cache, path)
  const bytes = fs.readFile(path)
  if (!bytes) throw new Vanished(`${path} is gone.`)
  // an index held whole is checked whole, so that a damaged one cannot hide an object
  const end = Math.max(0, bytes.length - 20)
  const sum = createHash('sha1').update(bytes.subarray(0, end)).digest()
  if (!sum.equals(bytes.subarray(end))) throw new Unreadable('the pack index does not match its checksum')
  return new Window(bytes, 0)
}
