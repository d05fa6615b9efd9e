import { hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { recentlyUsed } from '../../../base/recently-used.ts'
import type { CacheFile } from '../../../storage/files.ts'
import type { Oid } from '../../../git/objects.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { decodeFolderKeys, encodeFolderKeys, type FolderKeys } from './folder-keys.ts'
import { decodeRowFolder } from '../rows/row-folder.ts'
import { DEEPEST_POSITION, isTooDeep, type RowPosition } from '../rows/row-position.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from '../rows/stored-row.ts'
import { rowEntriesOf, rowBytes } from '../rows/stored-rows.ts'

/** The name of the derived file beside a repository. */
export const ROW_KEYS_FILE = 'row-keys'

/** The number of newly read folders of rows that makes it worthwhile to store their keys for the next process. */
const WORTH_KEEPING = 16

/**
 * Finds the rows of a testset that may have a certain content or dedup id. It has the first 32 bits of the SHA-1 of both for every row, by
 * folder. A folder's id identifies its content, so after a change only changed folders are read again: a query costs a comparison per row,
 * not a blob per row. The keys of a large testset are stored in a derived file, so that a restarted process has them too.
 */
export class RowKeys {
  readonly #folders: LRUCache<Oid, FolderKeys>
  /** The keys of recently read or written rows: in a changed folder, nearly all rows are the same as before. */
  readonly #rows: LRUCache<Oid, readonly [number, number]>
  readonly #loaded = new Set<string>()

  /** Limits of the caches: keys of single rows, and bytes of folders. */
  constructor({ mostRows = 50_000, mostBytes = 64 * 1024 * 1024 } = {}) {
    this.#folders = recentlyUsed(mostBytes, weightOf)
    this.#rows = new LRUCache({ max: mostRows })
  }

  /** The rows with any of these keys; the caller compares the actual content or dedup id. */
  async candidates(
    source: ObjectReader,
    tree: Oid | undefined,
    wanted: ReadonlySet<number>,
    file?: CacheFile,
  ): Promise<readonly { readonly position: RowPosition; readonly oid: Oid }[]> {
    if (tree === undefined) return []
    if (file && !this.#loaded.has(file.path)) this.#load(file)
    const look: Look = { source, wanted, file, found: [], read: 0, slice: new TimeSlice() }
    await this.#collect(tree, '', look)
    if (look.read > WORTH_KEEPING) this.keep(tree, file)
    return look.found
  }

  /**
   * The rows whose dedup ids have the same key as another row's, in order; the caller compares the dedup ids themselves. With `among`, only
   * rows with one of these keys.
   */
  async twins(
    source: ObjectReader,
    tree: Oid,
    among?: ReadonlySet<number>,
  ): Promise<readonly { readonly position: RowPosition; readonly oid: Oid }[]> {
    const seen = new Set<number>()
    const shared = new Set<number>()
    const slice = new TimeSlice()
    for await (const { keys } of this.#foldersOf(source, tree, 0, slice)) {
      if (slice.isOver) await slice.rest()
      for (const index of among ? indexesOf(keys, among) : keys.keys()) {
        // Every other key is the key of a content.
        if (index % 2 === 0) continue
        const key = keys[index] ?? 0
        if (seen.has(key)) shared.add(key)
        seen.add(key)
      }
    }
    return shared.size === 0 ? [] : this.candidates(source, tree, shared)
  }

  /** The keys of the dedup ids of all rows, in the order of `rowsOfTree`, one folder at a time. */
  async *dedupKeys(
    source: ObjectReader,
    tree: Oid,
    slice: TimeSlice,
    file?: CacheFile,
    depth = 0,
  ): AsyncGenerator<readonly number[]> {
    if (depth === DEEPEST_POSITION) return
    if (file && depth === 0 && !this.#loaded.has(file.path)) this.#load(file)
    const folder = this.#folders.get(tree) ?? (await this.#readFolder(source, tree, slice))
    let keys: number[] = []
    let row = 0
    const rowsTo = (byte: number): void => {
      for (; row < folder.bytes.length && (folder.bytes[row] ?? 0) <= byte; row++)
        keys.push(folder.keys[row * 2 + 1] ?? 0)
    }
    // A row precedes the rows in the folder of its name.
    for (const [byte, below] of folder.folders) {
      rowsTo(byte)
      if (keys.length > 0) yield keys
      keys = []
      yield* this.dedupKeys(source, below, slice, file, depth + 1)
    }
    rowsTo(255)
    if (keys.length > 0) yield keys
  }

  async *#foldersOf(
    source: ObjectReader,
    tree: Oid,
    depth: number,
    slice: TimeSlice,
  ): AsyncGenerator<FolderKeys> {
    if (depth === DEEPEST_POSITION) return
    const folder = this.#folders.get(tree) ?? (await this.#readFolder(source, tree, slice))
    yield folder
    for (const [, oid] of folder.folders) yield* this.#foldersOf(source, oid, depth + 1, slice)
  }

  /** Adds the keys of all rows of a newly written tree, in order, so that no blob need be read for them. */
  async seed(
    source: ObjectReader,
    tree: Oid,
    rows: Iterator<{ readonly key: string; readonly contentHash: string }>,
    slice: TimeSlice,
  ): Promise<void> {
    if (slice.isOver) await slice.rest()
    const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
    const bytes: number[] = []
    const keys: number[] = []
    const folders: [number, Oid][] = []
    for (let byte = 0; byte < 256; byte++) {
      if (folder.rows[byte] !== undefined) {
        const { value: row, done } = rows.next()
        if (done) return
        bytes.push(byte)
        keys.push(keyOfContent(row.contentHash), keyOfDedupId(row.key))
      }
      const below = folder.folders[byte]
      if (below === undefined) continue
      folders.push([byte, below])
      await this.seed(source, below, rows, slice)
    }
    this.#folders.set(tree, { bytes: Uint8Array.from(bytes), keys: Uint32Array.from(keys), folders })
  }

  /** Stores the keys of a tree for the next process, if there are many. */
  keep(tree: Oid, file: CacheFile | undefined): void {
    if (!file) return
    const folders: [Oid, FolderKeys][] = []
    const waiting = [tree]
    for (let oid = waiting.pop(); oid !== undefined; oid = waiting.pop()) {
      const folder = this.#folders.peek(oid)
      if (!folder) continue
      folders.push([oid, folder])
      for (const [, below] of folder.folders) waiting.push(below)
    }
    this.#loaded.add(file.path)
    if (folders.length > WORTH_KEEPING) file.write(encodeFolderKeys(folders))
  }

  /** Adds the keys of a row that was just written or read, and answers them. */
  note(oid: Oid, contentHash: string, dedupId: string): readonly [number, number] {
    const keys = [keyOfContent(contentHash), keyOfDedupId(dedupId)] as const
    this.#rows.set(oid, keys)
    return keys
  }

  async #collect(tree: Oid, prefix: RowPosition, look: Look): Promise<void> {
    if (isTooDeep(prefix)) return
    const { source, wanted, file, found, slice } = look
    if (slice.isOver) await slice.rest()
    let known = this.#folders.get(tree)
    if (!known && ++look.read === WORTH_KEEPING && file) {
      // The cache has probably dropped these folders, rather than never seen so many new ones.
      this.#load(file)
      known = this.#folders.get(tree)
    }
    const folder = known ?? (await this.#readFolder(source, tree, slice))
    for (const index of indexesOf(folder.keys, wanted)) {
      const byte = folder.bytes[index >> 1] ?? 0
      const oid = decodeRowFolder(await readBytes(source, tree, 'tree')).rows[byte]
      if (oid !== undefined) found.push({ position: prefix + String.fromCharCode(byte), oid })
    }
    for (const [byte, oid] of folder.folders)
      await this.#collect(oid, prefix + String.fromCharCode(byte), look)
  }

  async #readFolder(source: ObjectReader, tree: Oid, slice: TimeSlice): Promise<FolderKeys> {
    const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
    const rows: [number, Oid][] = []
    const folders: [number, Oid][] = []
    for (let byte = 0; byte < 256; byte++) {
      const [row, below] = [folder.rows[byte], folder.folders[byte]]
      if (row !== undefined) rows.push([byte, row])
      if (below !== undefined) folders.push([byte, below])
    }
    // Kept here, because reading some rows may remove others from the cache.
    const held = rows.map(([, oid]) => this.#rows.get(oid))
    const unknown = rows.filter((_, place) => held[place] === undefined).map(([, oid]) => oid)
    const told = (await this.#readRows(source, unknown, slice)).values()
    const keys = Uint32Array.from(held.flatMap((keysOfRow) => keysOfRow ?? told.next().value ?? []))
    const read = { bytes: Uint8Array.from(rows, ([byte]) => byte), keys, folders }
    this.#folders.set(tree, read)
    return read
  }

  async #readRows(
    source: ObjectReader,
    oids: readonly Oid[],
    slice: TimeSlice,
  ): Promise<readonly (readonly [number, number])[]> {
    const told: (readonly [number, number])[] = []
    for await (const batch of rowBytes(source, [rowEntriesOf(oids)], slice)) {
      for (const { row, data: bytes } of batch) {
        const { oid } = row
        const data = decodeRow(bytes, () => `the row ${oid}`)
        told.push(this.note(oid, encodeContent(contentOf(data)).hash, dedupIdOf(data) ?? ''))
        if (slice.isOver) await slice.rest()
      }
    }
    return told
  }

  /** Loads keys that this process or an earlier one stored. */
  #load(file: CacheFile): void {
    this.#loaded.add(file.path)
    for (const [tree, folder] of decodeFolderKeys(file.read() ?? Buffer.alloc(0)))
      this.#folders.set(tree, folder)
  }
}

/** The key of a content hash. */
export function keyOfContent(contentHashHex: string): number {
  return Number.parseInt(contentHashHex.slice(0, 8), 16)
}

/** The key of a dedup id. */
export function keyOfDedupId(dedupId: string): number {
  return Number.parseInt(hash('sha1', dedupId, 'hex').slice(0, 8), 16)
}

interface Look {
  readonly source: ObjectReader
  readonly wanted: ReadonlySet<number>
  readonly file: CacheFile | undefined
  readonly found: { readonly position: RowPosition; readonly oid: Oid }[]
  /** Folders that were not in the cache. */
  read: number
  readonly slice: TimeSlice
}

function weightOf({ keys, folders }: FolderKeys): number {
  return keys.byteLength + folders.length * 100 + 300
}

/** The indexes of these values. `indexOf` compares many values at once, so for few values it is ten times as fast as a loop. */
function indexesOf(keys: Uint32Array, wanted: ReadonlySet<number>): number[] {
  const found: number[] = []
  if (wanted.size > FEW) {
    for (let index = 0; index < keys.length; index++) if (wanted.has(keys[index] ?? 0)) found.push(index)
    return found
  }
  for (const value of wanted) {
    for (let index = keys.indexOf(value); index >= 0; index = keys.indexOf(value, index + 1))
      found.push(index)
  }
  return found
}

const FEW = 16
