import { recentlyUsed } from '../../../base/recently-used.ts'
import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader, ObjectSink } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import type { RowBlobs, RowChange, RowEntry, RowRange } from './row-entry.ts'
import type { RowFolder } from './row-folder.ts'
import { OID_BYTES, decodeRowFolder, emptyRowFolder, encodeRowFolder, scanRowFolder } from './row-folder.ts'
import type { RowPosition } from './row-position.ts'
import { DEEPEST_POSITION, isTooDeep } from './row-position.ts'

/**
 * The rows of a `testcases` tree in order, in non-empty batches. Reads a folder only when the rows before it have been taken: once rows are
 * counted, a page from the middle of a million rows reads three trees. Call `countRows` first if a push may have brought a tree that
 * repeats one folder again and again: it counts that quickly, but walking it would never end.
 */
export async function* rowsOfTree(
  source: ObjectReader,
  tree: Oid | undefined,
  { after, descending = false, offset = 0 }: RowRange = {},
): AsyncGenerator<readonly RowEntry[]> {
  if (tree === undefined) return
  const walk = { source, slice: new TimeSlice(), barren: 0, left: offset }
  yield* rowsOfFolder(walk, tree, { prefix: '', after, descending })
}

/** The row at a position; undefined if there is none. */
export async function rowAt(
  source: ObjectReader,
  tree: Oid | undefined,
  position: RowPosition,
): Promise<RowEntry | undefined> {
  let next = tree
  for (let depth = 0; next !== undefined && depth < position.length && !isTooDeep(position); depth++) {
    const folder = decodeRowFolder(await readBytes(source, next, 'tree'))
    const byte = position.charCodeAt(depth)
    if (depth === position.length - 1) return entryOf(folder, byte, position)
    next = folder.folders[byte]
  }
  return undefined
}

/**
 * Sets or removes (undefined) rows, and answers the new tree; undefined if it is empty. Reads and writes only trees on the path to a
 * changed row; empty folders are removed. Entries that are not rows stay, unless a row needs their name. Positions must be unique; an
 * invalid one throws a RangeError.
 */
export async function editRows(
  target: ObjectReader & ObjectSink,
  tree: Oid | undefined,
  changes: Iterable<RowChange>,
  slice = new TimeSlice(),
): Promise<Oid | undefined> {
  const sorted = await inOrder(changes, slice)
  return editFolder({ target, changes: sorted, slice }, tree, { depth: 0, from: 0, to: sorted.length })
}

/** A cache of the row counts of trees, which never change: any Map or bounded cache. */
export interface RowCounts {
  get(tree: string): number | undefined
  set(tree: string, count: number): unknown
}

/** The row counts of all stores' trees; a million rows have four thousand trees. */
export const rowCounts: RowCounts = recentlyUsed<string, number>(200_000, () => 1)

/** The number of rows in a `testcases` tree, or in a folder at this depth of one. Reads only trees whose count is not cached. */
export async function countRows(
  source: ObjectReader,
  tree: Oid | undefined,
  counts: RowCounts,
  slice = new TimeSlice(),
  depth = 0,
): Promise<number> {
  return tree === undefined ? 0 : countFolder({ source, counts, slice, read: 0 }, tree, depth)
}

interface FolderRange {
  readonly prefix: RowPosition
  /** The rest of the start position below `prefix`; undefined: begin at the edge. */
  readonly after: RowPosition | undefined
  readonly descending: boolean
}

interface RowWalk {
  readonly source: ObjectReader
  readonly slice: TimeSlice
  /** Folders read since the last row was found. */
  barren: number
  /** Rows to skip. */
  left: number
}

async function* rowsOfFolder(
  walk: RowWalk,
  tree: Oid,
  { prefix, after, descending }: FolderRange,
): AsyncGenerator<readonly RowEntry[]> {
  if (walk.slice.isOver) await walk.slice.rest()
  const folder = decodeRowFolder(await readBytes(walk.source, tree, 'tree'))
  walk.barren = folder.rows.some((row) => row !== undefined) ? 0 : walk.barren + 1
  if (walk.barren > MOST_BARREN) throw tooManyFolders()
  let batch: RowEntry[] = []
  for (let step = 0; step < 256; step++) {
    const byte = descending ? 255 - step : step
    const side = sideOf(byte, after, descending)
    if (side < 0) continue
    const position = prefix + String.fromCharCode(byte)
    const rest = side === 0 ? after?.slice(1) : undefined
    // A row precedes the rows in the folder of its name, so the range may begin between them.
    const row = side > 0 || (descending && rest !== '') ? entryOf(folder, byte, position) : undefined
    if (row && !descending && isReached(walk)) batch.push(row)
    const deeper = descending && rest === '' ? undefined : folderAt(folder, byte, prefix.length)
    if (deeper !== undefined && !(side > 0 && (await isPassed(walk, deeper, position.length)))) {
      if (batch.length > 0) yield batch
      batch = []
      yield* rowsOfFolder(walk, deeper, {
        prefix: position,
        after: rest === '' ? undefined : rest,
        descending,
      })
    }
    if (row && descending && isReached(walk)) batch.push(row)
  }
  if (batch.length > 0) yield batch
}

/** Returns true if enough rows were skipped. If not, counts this row as skipped and returns false. */
function isReached(walk: RowWalk): boolean {
  if (walk.left === 0) return true
  walk.left--
  return false
}

/** Skips a folder if all its rows are to be skipped; false if it must be read. */
async function isPassed(walk: RowWalk, folder: Oid, depth: number): Promise<boolean> {
  if (walk.left === 0) return false
  const { source, slice } = walk
  const rows = await countFolder({ source, counts: rowCounts, slice, read: 0 }, folder, depth)
  if (rows > walk.left) return false
  walk.left -= rows
  return true
}

/** Positive if everything at this byte is in the range, 0 if a part may be, negative if nothing is. */
function sideOf(byte: number, after: RowPosition | undefined, descending: boolean): number {
  if (after === undefined) return 1
  const edge = after.charCodeAt(0)
  return descending ? edge - byte : byte - edge
}

function entryOf(folder: RowFolder, byte: number, position: RowPosition): RowEntry | undefined {
  const oid = folder.rows[byte]
  return oid === undefined ? undefined : { position, oid, meta: folder.metas[byte] }
}

/** The folder at a byte. Rows that are too deep do not count, so a folder with only such rows is not read. */
function folderAt(folder: RowFolder, byte: number, depth: number): Oid | undefined {
  return depth + 1 < DEEPEST_POSITION ? folder.folders[byte] : undefined
}

/** The changes in order of their positions. Sorting does not yield, so a sorted list is left as it is. */
async function inOrder(changes: Iterable<RowChange>, slice: TimeSlice): Promise<readonly RowChange[]> {
  const list: RowChange[] = []
  let isSorted = true
  await slice.each(changes, (change) => {
    const [position] = change
    if (position === '' || position.endsWith('\0') || isTooDeep(position))
      throw new RangeError(`no row can be at ${JSON.stringify(position)}`)
    const last = list.at(-1)
    if (last && position < last[0]) isSorted = false
    list.push(change)
  })
  return isSorted ? list : list.sort(([a], [b]) => (a < b ? -1 : 1))
}

interface RowEdit {
  readonly target: ObjectReader & ObjectSink
  /** Ascending. */
  readonly changes: readonly RowChange[]
  readonly slice: TimeSlice
}

/**
 * The part of an edit in one folder: the changes with indexes from `from` to before `to` have positions that agree in their first `depth`
 * bytes.
 */
interface EditRange {
  readonly depth: number
  readonly from: number
  readonly to: number
}

async function editFolder(
  edit: RowEdit,
  tree: Oid | undefined,
  { depth, from, to }: EditRange,
): Promise<Oid | undefined> {
  const { target, changes, slice } = edit
  if (slice.isOver) await slice.rest()
  const folder =
    tree === undefined ? emptyRowFolder() : decodeRowFolder(await readBytes(target, tree, 'tree'))
  let isChanged = false
  for (let at = from; at < to;) {
    const [position = '', row] = changes[at] ?? []
    const byte = position.charCodeAt(depth)
    if (position.length === depth + 1) {
      if (setRow(folder, byte, row)) isChanged = true
      at++
      continue
    }
    const end = endOfByte(changes, depth, at, to)
    const deeper = await editFolder(edit, folder.folders[byte], { depth: depth + 1, from: at, to: end })
    if (deeper !== folder.folders[byte]) isChanged = true
    folder.folders[byte] = deeper
    at = end
  }
  if (!isChanged) return tree
  const bytes = encodeRowFolder(folder)
  return bytes && target.write('tree', bytes)
}

/** Answers whether this changes anything. A meta file without a row is ignored until there is a row. */
function setRow(folder: RowFolder, byte: number, blobs: RowBlobs | undefined): boolean {
  const { oid, meta } = blobs ?? {}
  if (folder.rows[byte] === oid && (folder.metas[byte] === meta || oid === undefined)) return false
  folder.rows[byte] = oid
  folder.metas[byte] = meta
  return true
}

/** The end of the range of positions that have the same byte at `depth` as the one at `from`. */
function endOfByte(changes: readonly RowChange[], depth: number, from: number, to: number): number {
  const byte = changes[from]?.[0].charCodeAt(depth)
  let [low, high] = [from + 1, to]
  while (low < high) {
    const middle = (low + high) >> 1
    if (changes[middle]?.[0].charCodeAt(depth) === byte) low = middle + 1
    else high = middle
  }
  return low
}

interface RowCount {
  readonly source: ObjectReader
  readonly counts: RowCounts
  readonly slice: TimeSlice
  /** Trees whose count was not cached. */
  read: number
}

async function countFolder(count: RowCount, tree: Oid, depth: number): Promise<number> {
  const { source, counts, slice } = count
  // Rows that are too deep do not count, so a tree's count depends on its depth.
  const key = `${tree} ${depth}`
  const known = counts.get(key)
  if (known !== undefined) return known
  if (++count.read > MOST_TREES) throw tooManyFolders()
  if (slice.isOver) await slice.rest()
  const bytes = await readBytes(source, tree, 'tree')
  const deeper: Oid[] = []
  let rows = 0
  scanRowFolder(bytes, (kind, _byte, _entryAt, oidAt) => {
    if (kind === 'row') rows++
    if (kind === 'folder' && depth + 1 < DEEPEST_POSITION) {
      deeper.push(bytes.toString('hex', oidAt, oidAt + OID_BYTES))
    }
  })
  for (const folder of deeper) rows += await countFolder(count, folder, depth + 1)
  counts.set(key, rows)
  return rows
}

/** Maximum consecutive folders without a row. In trees of REST, each folder or one below it has a row. */
export const MOST_BARREN = 65_536

/** Maximum trees that are read to count rows: the largest valid testset, with each row in separate folders, has fewer. */
const MOST_TREES = 10_000_000

export function tooManyFolders(): Refusal {
  return new Refusal(
    'damaged_repository',
    'The folder of testcases unfolds to more folders than can be walked, because its trees name the same folders again and again. ' +
      'Commit a repaired version with git.',
  )
}
