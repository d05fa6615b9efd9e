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
 * The rows of a `testcases` tree in order, some at a time, never none. Reads a folder only when the rows before it have
 * been taken: a page from the middle of a million rows costs three trees, once the rows of each folder have been counted. Ask `countRows`
 * first where a push may have brought a tree that names one folder of rows over and over: it counts that at once, and walking it would
 * never end.
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
 * Sets rows, or removes them (undefined), and answers the new tree: undefined if nothing is left in it. Only trees on the
 * way to a changed row are read and written, and none that comes out as it was; folders left empty vanish. What is no row
 * is carried over, unless a row needs its name. No position comes twice; a RangeError tells of one where no row can be.
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

/** Where the row counts of trees are kept; any Map or bounded cache. They never change. */
export interface RowCounts {
  get(tree: string): number | undefined
  set(tree: string, count: number): unknown
}

/** The row counts of all stores' trees; a million rows have four thousand trees. */
export const rowCounts: RowCounts = recentlyUsed<string, number>(200_000, () => 1)

/** How many rows a `testcases` tree holds, or a folder that hangs so deep in one. Reads only trees whose count is not kept. */
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
  /** What is left of the position to begin after, below `prefix`; undefined: begin at the edge. */
  readonly after: RowPosition | undefined
  readonly descending: boolean
}

interface RowWalk {
  readonly source: ObjectReader
  readonly slice: TimeSlice
  /** Folders that were read since the last row was found. */
  barren: number
  /** Rows to pass by before the first that counts. */
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
    // A row stands before what lies in its folder, so the range may begin between the two.
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

/** Whether a row is behind those to pass by; if it is one of them, it has been passed. */
function isReached(walk: RowWalk): boolean {
  if (walk.left === 0) return true
  walk.left--
  return false
}

/** Passes by a folder whose rows all are to be; false if it has to be looked into. */
async function isPassed(walk: RowWalk, folder: Oid, depth: number): Promise<boolean> {
  if (walk.left === 0) return false
  const { source, slice } = walk
  const rows = await countFolder({ source, counts: rowCounts, slice, read: 0 }, folder, depth)
  if (rows > walk.left) return false
  walk.left -= rows
  return true
}

/** Positive if everything at this byte is in the range, 0 if part of it may be, negative if nothing is. */
function sideOf(byte: number, after: RowPosition | undefined, descending: boolean): number {
  if (after === undefined) return 1
  const edge = after.charCodeAt(0)
  return descending ? edge - byte : byte - edge
}

function entryOf(folder: RowFolder, byte: number, position: RowPosition): RowEntry | undefined {
  const oid = folder.rows[byte]
  return oid === undefined ? undefined : { position, oid, meta: folder.metas[byte] }
}

/** The folder at a byte; rows in one that is too deep do not count as rows, so it is never looked into. */
function folderAt(folder: RowFolder, byte: number, depth: number): Oid | undefined {
  return depth + 1 < DEEPEST_POSITION ? folder.folders[byte] : undefined
}

/** The changes in order of their positions. Sorting takes no turns, so what is in order is left alone. */
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

/** The part of an edit that lies in one folder: the positions of `changes` from `from` to before `to` agree in `depth` bytes. */
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

/** True if it makes a difference. A meta file without a row is nobody's until a row stands there. */
function setRow(folder: RowFolder, byte: number, blobs: RowBlobs | undefined): boolean {
  const { oid, meta } = blobs ?? {}
  if (folder.rows[byte] === oid && (folder.metas[byte] === meta || oid === undefined)) return false
  folder.rows[byte] = oid
  folder.metas[byte] = meta
  return true
}

/** Where the positions that have the same byte at `depth` as the one at `from` end. */
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
  /** Trees whose count was not kept. */
  read: number
}

async function countFolder(count: RowCount, tree: Oid, depth: number): Promise<number> {
  const { source, counts, slice } = count
  // What lies too deep is not counted, so a tree's count depends on how deep it hangs.
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

/** Folders that may follow one another without a row. What REST writes has a row in each, or in a folder below it. */
export const MOST_BARREN = 65_536

/** Trees that are read to count rows: the most rows that a testset may have, each in a few folders of its own, have no more. */
const MOST_TREES = 10_000_000

export function tooManyFolders(): Refusal {
  return new Refusal(
    'damaged_repository',
    'The folder of testcases unfolds to more folders than can be walked, because its trees name the same folders again and again. ' +
      'Commit a repaired version with git.',
  )
}
