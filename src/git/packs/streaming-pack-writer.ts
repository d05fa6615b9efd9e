import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { settleAll } from '../../storage/settle-all.ts'
import { encodePackIndex } from './pack-index-writer.ts'
import type { FileHandle, Fs } from '../../storage/fs.ts'
import { inflateExactly } from './inflate.ts'
import { hashObject, type GitObject, type ObjectKind, type Oid } from '../objects/object.ts'
import { encodeEntry, readEntry, type EntrySource } from './pack-entry.ts'
import { PackEntryTable } from './pack-entries.ts'
import { packHeader } from './pack-writer.ts'
import { nothingStaged, stagingFor, type StagedPack, type Staging } from '../transactions/pack-staging.ts'
import { FileWindow } from './windowed-file.ts'

/** Entries are collected up to this many bytes and written at once. */
const CHUNK = 256 * 1024
/** About a millisecond's work. */
const BYTES_HASHED_BETWEEN_YIELDS = 1024 * 1024

/**
 * One pack of however many objects, written under a temporary name while they come in. Takes about 45 bytes of memory an
 * object. To be ended by `finish` or `discard`; an error of the disk discards it and is thrown on.
 */
export class StreamingPackWriter {
  readonly #fs: Fs
  readonly #staging: Staging
  readonly #table = new PackEntryTable()
  readonly #chunk = Buffer.allocUnsafeSlow(CHUNK)
  #filled: number
  /** How many bytes lie in the file, before those of the chunk. */
  #written = 0
  #file: FileHandle | undefined
  #ended = false

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs
    this.#staging = stagingFor(fs, gitdir)
    // how many objects it will be is known at the end
    this.#filled = packHeader(0).copy(this.#chunk)
  }

  /** Adds the object unless it was added before, and answers its id; `deflated` is as `encodeEntry` takes it, `oid` its id if that is known. */
  add(kind: ObjectKind, bytes: Buffer, deflated?: Buffer, oid = hashObject(kind, bytes)): Oid {
    if (this.#table.find(oid) !== undefined) return oid
    if (this.#ended) throw new Error('The pack is finished or discarded; it takes no more objects.')
    const entry = encodeEntry(kind, bytes, deflated)
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

  /** Completes the pack and writes its index; both are on the disk when this resolves, and wait to be published. */
  async finish(): Promise<StagedPack> {
    if (this.#table.count === 0) {
      this.discard()
      return nothingStaged
    }
    try {
      this.#flush()
      const checksum = await this.#seal(this.#openFile())
      await this.#writeIndex(checksum)
      await this.#staging.keep()
      this.#end()
      return this.#staging.staged(`pack-${checksum.toString('hex')}`, undefined)
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Forgets everything that was added. */
  discard(): void {
    this.#end()
    this.#staging.remove()
  }

  /** The count and, over everything with it, the checksum: both stand in the file already when the rest is synced. */
  async #seal(file: FileHandle): Promise<Buffer> {
    file.overwrite(packHeader(this.#table.count), 0)
    const hash = createHash('sha1')
    // what is written reaches the disk while it is hashed
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
      if (got < wanted) throw new Error(`${this.#staging.packPath} is shorter than what was written to it.`)
      use(piece.subarray(0, got))
      position += got
      await yieldToEventLoop()
    }
  }

  async #writeIndex(packChecksum: Buffer): Promise<void> {
    const index = this.#fs.createFile(this.#staging.indexPath)
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
    return (this.#file ??= this.#fs.createFile(this.#staging.packPath))
  }

  #end(): void {
    this.#ended = true
    this.#file?.close()
    this.#file = undefined
  }

  /** Entries lie whole in the file or whole in the chunk. */
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
