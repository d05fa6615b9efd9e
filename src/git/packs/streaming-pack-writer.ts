import { TimeSlice, yieldToEventLoop } from '../../base/scheduling.ts'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { FileHandle, Fs } from '../../storage/files.ts'
import { hashObject, type GitObject, type ObjectKind, type Oid } from '../objects/object.ts'
import { inflateExactly, readEntry, storedStream, type EntrySource } from './pack-entry.ts'
import {
  LONG,
  type PackableObject,
  StagedPack,
  deflateAside,
  encodeEntry,
  packHeader,
  settleAll,
} from './pack-writer.ts'
import { FileWindow } from './windowed-file.ts'

/** Stages objects while they are encoded, and yields to other work meanwhile. They are on the disk when it resolves. */
export async function stageMany(
  fs: Fs,
  gitdir: string,
  objects: readonly PackableObject[],
): Promise<StagedPack | undefined> {
  const slice = new TimeSlice()
  const writer = new StreamingPackWriter(fs, gitdir)
  try {
    for (const { oid, kind, bytes } of objects) {
      writer.add(kind, bytes, bytes.length > LONG ? await deflateAside(bytes) : undefined, oid)
      if (slice.isOver) await slice.rest()
    }
    return await writer.finish()
  } catch (error) {
    writer.discard()
    throw error
  }
}

/**
 * A shorter object is stored without being deflated, since an import has very many: deflating 200 bytes of JSON takes 13 µs and inflating them
 * 5, storing and reading them below 1 each, for 58 bytes saved.
 */
const MAX_STORED_BYTES = 512

/** Entries are collected up to this many bytes and written at once. */
const CHUNK = 256 * 1024
/** About a millisecond's work. */
const BYTES_HASHED_BETWEEN_YIELDS = 1024 * 1024

/**
 * One pack of any number of objects, written under a temporary name as they arrive. Takes about 45 bytes of memory per object. Call
 * `finish` or `discard` at the end. A disk error discards the pack, and is rethrown.
 */
export class StreamingPackWriter {
  readonly #fs: Fs
  readonly #staged: StagedPack
  readonly #table = new PackEntryTable()
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK)
  #filled: number
  /** The number of bytes in the file, before those of the chunk. */
  #written = 0
  #file: FileHandle | undefined
  #ended = false

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs
    this.#staged = new StagedPack(fs, gitdir)
    // the number of objects is known only at the end
    this.#filled = packHeader(0).copy(this.#chunk)
  }

  /** Adds the object unless it was added before, and answers its id. `deflated` is its zlib stream and `oid` its id, if they are known. */
  add(kind: ObjectKind, bytes: Buffer, deflated?: Buffer, oid = hashObject(kind, bytes)): Oid {
    if (this.#table.find(oid) !== undefined) return oid
    if (this.#ended) throw new Error('The pack is finished or discarded; it takes no more objects.')
    const stream = deflated ?? (bytes.length <= MAX_STORED_BYTES ? storedStream(bytes) : undefined)
    const entry = encodeEntry(kind, bytes, stream)
    if (this.#filled + entry.length > CHUNK) this.#flush()
    const offset = this.#written + this.#filled
    if (entry.length > CHUNK) this.#append(entry)
    else this.#filled += entry.copy(this.#chunk, this.#filled)
    this.#table.add(oid, offset, crc32(entry))
    return oid
  }

  /** Whether the object was added. */
  has(oid: Oid): boolean {
    return this.#table.find(oid) !== undefined
  }

  /** The object as it was added, or undefined if it was not. */
  read(oid: Oid): GitObject | undefined {
    const row = this.#table.find(oid)
    if (row === undefined) return undefined
    const { kind, deflated, size } = readEntry(this.#source(), this.#table.offset(row))
    return kind && { kind, bytes: inflateExactly(deflated, size).bytes }
  }

  /**
   * Completes the pack and writes its index. Both are on the disk, ready to be published, when this resolves. Undefined without objects.
   */
  async finish(): Promise<StagedPack | undefined> {
    if (this.#table.count === 0) {
      this.discard()
      return undefined
    }
    try {
      this.#flush()
      const checksum = await this.#seal(this.#openFile())
      await this.#writeIndex(checksum)
      await this.#staged.keep()
      this.#end()
      this.#staged.name = `pack-${checksum.toString('hex')}`
      return this.#staged
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Drops everything that was added. */
  discard(): void {
    this.#end()
    this.#staged.discard()
  }

  /** Writes the count and the checksum of everything. Both are in the file before the last sync. */
  async #seal(file: FileHandle): Promise<Buffer> {
    file.overwrite(packHeader(this.#table.count), 0)
    const hash = createHash('sha1')
    // the data reaches the disk while it is hashed
    await settleAll([file.sync(), this.#readThrough(file, (piece) => hash.update(piece))])
    const checksum = hash.digest()
    file.append(checksum)
    await file.sync()
    return checksum
  }

  async #readThrough(file: FileHandle, use: (piece: Buffer) => void): Promise<void> {
    const piece = Buffer.allocUnsafeSlow(Math.min(BYTES_HASHED_BETWEEN_YIELDS, this.#written))
    for (let position = 0; position < this.#written;) {
      const wanted = Math.min(piece.length, this.#written - position)
      const got = file.read(piece.subarray(0, wanted), position)
      if (got < wanted) throw new Error(`${this.#staged.packPath} is shorter than what was written to it.`)
      use(piece.subarray(0, got))
      position += got
      await yieldToEventLoop()
    }
  }

  async #writeIndex(packChecksum: Buffer): Promise<void> {
    const index = this.#fs.createFile(this.#staged.indexPath)
    try {
      for (const piece of encodePackIndex(this.#table, packChecksum)) {
        index.append(piece)
        await yieldToEventLoop()
      }
      await index.sync()
    } finally {
      index.close()
    }
  }

  #flush(): void {
    if (this.#filled === 0) return
    this.#append(this.#chunk.subarray(0, this.#filled))
    this.#filled = 0
  }

  #append(bytes: Buffer): void {
    try {
      this.#openFile().append(bytes)
    } catch (error) {
      this.discard()
      throw error
    }
    this.#written += bytes.length
  }

  #openFile(): FileHandle {
    return (this.#file ??= this.#fs.createFile(this.#staged.packPath))
  }

  #end(): void {
    this.#ended = true
    this.#file?.close()
    this.#file = undefined
  }

  /** An entry is either completely in the file or completely in the chunk. */
  #source(): EntrySource {
    return {
      size: this.#written + this.#filled + 20,
      at: (position, length) => {
        if (position >= this.#written)
          return new FileWindow(this.#chunk.subarray(0, this.#filled), this.#written)
        const target = Buffer.allocUnsafe(Math.min(length, this.#written - position))
        return new FileWindow(target.subarray(0, this.#openFile().read(target, position)), position)
      },
    }
  }
}

/** A row is eight words of 32 bits: five of the id, the CRC, the offset's low and high word. */
const ROW = 8
const CRC = 5
const LOW = 6
const HIGH = 7

const SMALLEST = 64

/** A few milliseconds' work. */
const ROWS_SORTED_BETWEEN_YIELDS = 65_536

/** The searched id as bytes, converted in place because that is the cheapest way. */
const sought = Buffer.alloc(20)
const soughtWords = new DataView(sought.buffer, sought.byteOffset, sought.length)

/**
 * The objects of a pack during its writing, numbered from 0 in the order they were added: id, CRC-32 and offset of their entries. 40 to 48
 * bytes per object, outside the heap.
 */
export class PackEntryTable {
  #rows = new Uint32Array(SMALLEST * ROW)
  /** A hash table with open addressing by the id's first word: the row's number plus one, 0 if free. At least half are free. */
  #slots = new Uint32Array(SMALLEST * 2)
  #count = 0

  get count(): number {
    return this.#count
  }

  /** The number of the object's row, or undefined if it was not added. */
  find(oid: Oid): number | undefined {
    const row = this.#slots[this.#slotOf(oid)]
    return row ? row - 1 : undefined
  }

  /** Adds a row for an object that does not have one. */
  add(oid: Oid, offset: number, crc: number): void {
    if ((this.#count + 1) * 2 > this.#slots.length) this.#grow()
    this.#slots[this.#slotOf(oid)] = this.#count + 1
    const at = this.#count++ * ROW
    for (let word = 0; word < 5; word++) this.#rows[at + word] = soughtWords.getUint32(word * 4)
    this.#rows[at + CRC] = crc
    this.#rows[at + LOW] = offset % 0x100000000
    this.#rows[at + HIGH] = Math.floor(offset / 0x100000000)
  }

  offset(row: number): number {
    return this.#word(row, HIGH) * 0x100000000 + this.#word(row, LOW)
  }

  crc(row: number): number {
    return this.#word(row, CRC)
  }

  /** Writes the 20 bytes of the row's id. */
  writeId(row: number, target: DataView, at: number): void {
    for (let word = 0; word < 5; word++) target.setUint32(at + word * 4, this.#word(row, word))
  }

  firstByte(row: number): number {
    return this.#word(row, 0) >>> 24
  }

  /** The rows in order of their ids. It yields now and then, because sorting many rows takes long. */
  *inOrder(): Generator<void, Uint32Array> {
    // ids are spread evenly: with as many buckets as rows, each has one or two to sort
    const bits = Math.min(20, Math.ceil(Math.log2(this.#count + 2)))
    const starts = new Uint32Array(2 ** bits + 1)
    const bucket = (row: number): number => this.#word(row, 0) >>> (32 - bits)
    for (let row = 0; row < this.#count; row++) {
      starts[bucket(row) + 1]! += 1 // one more than there are buckets
      if (row % ROWS_SORTED_BETWEEN_YIELDS === ROWS_SORTED_BETWEEN_YIELDS - 1) yield
    }
    for (let number = 0; number < 2 ** bits; number++) starts[number + 1]! += starts[number]! // likewise
    const rows = new Uint32Array(this.#count)
    // the first words beside their rows, because random lookups in order of ids would miss the processor's cache
    const heads = new Uint32Array(this.#count)
    for (let row = 0; row < this.#count; row++) {
      const place = starts[bucket(row)]!++ // likewise
      rows[place] = row
      heads[place] = this.#word(row, 0)
      if (row % ROWS_SORTED_BETWEEN_YIELDS === ROWS_SORTED_BETWEEN_YIELDS - 1) yield
    }
    // nothing leaves its bucket, so this takes as many steps as there are rows
    for (let place = 1; place < rows.length; place++) {
      const row = rows[place]! // place < rows.length
      const head = heads[place]! // likewise
      let at = place
      for (; at > 0; at--) {
        const before = heads[at - 1]! // at > 0
        if (before < head || (before === head && this.#compare(rows[at - 1]!, row) < 0)) break
        heads[at] = before
        rows[at] = rows[at - 1]! // at > 0
      }
      heads[at] = head
      rows[at] = row
      if (place % ROWS_SORTED_BETWEEN_YIELDS === 0) yield
    }
    return rows
  }

  #word(row: number, word: number): number {
    return this.#rows[row * ROW + word]! // rows come from `find` and `inOrder`
  }

  #compare(a: number, b: number): number {
    for (let word = 0; word < 5; word++) {
      const difference = this.#word(a, word) - this.#word(b, word)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** The slot with the object, or the free slot for it; leaves the id in `soughtWords`. */
  #slotOf(oid: Oid): number {
    sought.write(oid, 'hex')
    const last = this.#slots.length - 1
    for (let slot = soughtWords.getUint32(0) & last; ; slot = (slot + 1) & last) {
      const row = this.#slots[slot]! // slot <= last
      if (row === 0 || this.#isSought(row - 1)) return slot
    }
  }

  #isSought(row: number): boolean {
    for (let word = 0; word < 5; word++) {
      if (this.#word(row, word) !== soughtWords.getUint32(word * 4)) return false
    }
    return true
  }

  #grow(): void {
    const rows = new Uint32Array(this.#rows.length * 2)
    rows.set(this.#rows)
    this.#rows = rows
    this.#slots = new Uint32Array(this.#slots.length * 2)
    const last = this.#slots.length - 1
    for (let row = 0; row < this.#count; row++) {
      let slot = this.#word(row, 0) & last
      while (this.#slots[slot] !== 0) slot = (slot + 1) & last
      this.#slots[slot] = row + 1
    }
  }
}

/** Offsets of this size and more are in a separate table, with 64 bits each. */
const LONG_OFFSET = 0x80000000

const ROWS_WRITTEN_AT_ONCE = 8192

const NOTHING = Buffer.alloc(0)

/**
 * The index of version 2 for a pack of these objects (gitformat-pack), byte for byte as `git index-pack` makes it, in pieces of at most 160
 * KiB; pieces may be empty. `packChecksum` is the last 20 bytes of the pack.
 */
export function* encodePackIndex(table: PackEntryTable, packChecksum: Buffer): Generator<Buffer, void> {
  const hash = createHash('sha1')
  for (const piece of piecesOf(table, packChecksum)) {
    hash.update(piece)
    yield piece
  }
  yield hash.digest()
}

function* piecesOf(table: PackEntryTable, packChecksum: Buffer): Generator<Buffer, void> {
  yield indexHeader(table)
  const ordering = table.inOrder()
  let step = ordering.next()
  for (; !step.done; step = ordering.next()) yield NOTHING
  const rows = step.value
  yield* column(rows, 20, (row, target, at) => table.writeId(row, target, at))
  yield* column(rows, 4, (row, target, at) => target.setUint32(at, table.crc(row)))
  let long = 0
  yield* column(rows, 4, (row, target, at) => {
    const offset = table.offset(row)
    target.setUint32(at, offset < LONG_OFFSET ? offset : LONG_OFFSET + long++)
  })
  if (long > 0) {
    const longRows = rows.filter((row) => table.offset(row) >= LONG_OFFSET)
    yield* column(longRows, 8, (row, target, at) => target.setBigUint64(at, BigInt(table.offset(row))))
  }
  yield packChecksum
}

/** Magic, version, and for each of the 256 byte values the number of objects whose first byte is not larger. */
function indexHeader(table: PackEntryTable): Buffer {
  const perFirstByte = new Uint32Array(256)
  for (let row = 0; row < table.count; row++) perFirstByte[table.firstByte(row)]! += 1 // one entry for each value of a byte
  const bytes = Buffer.allocUnsafe(8 + 256 * 4)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  view.setUint32(0, 0xff744f63)
  view.setUint32(4, 2)
  for (let byte = 0, sum = 0; byte < 256; byte++) view.setUint32(8 + byte * 4, (sum += perFirstByte[byte]!)) // likewise
  return bytes
}

function* column(
  rows: Uint32Array,
  width: number,
  write: (row: number, target: DataView, at: number) => void,
): Generator<Buffer, void> {
  for (let start = 0; start < rows.length; start += ROWS_WRITTEN_AT_ONCE) {
    const piece = rows.subarray(start, start + ROWS_WRITTEN_AT_ONCE)
    const bytes = Buffer.allocUnsafe(piece.length * width)
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    piece.forEach((row, number) => write(row, view, number * width))
    yield bytes
  }
}
