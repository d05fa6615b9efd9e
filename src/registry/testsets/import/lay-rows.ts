import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { ChangedRows } from '../../payload/family.ts'
import type { ObjectReader, ObjectSink } from '../../payload/tree-files.ts'
import { rowKeys } from '../dedup/row-index.ts'
import type { RowChange, RowEntry } from '../rows/row-entry.ts'
import { editRows } from '../rows/row-tree.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { readBlobs } from '../rows/stored-rows.ts'
import type { CollectedRow, LaidRows } from '../testset-payload.ts'
import { type RowPosition, isTooDeep, positionsAfter, positionsBetween } from '../rows/row-position.ts'

/** The rows of a testset in a commit: their folder, and its content. */
export interface WrittenRows {
  /** Undefined if there are none. */
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
}

/**
 * Lays rows, whose blobs are written, over those of `base`, so that git shows exactly the changed rows. Answers the folder of the rows and
 * the changes. Caches the rows' keys, so that the next change reads no blob.
 */
export async function writeRowTree(
  target: ObjectReader & ObjectSink,
  rows: readonly CollectedRow[],
  base: WrittenRows,
  slice: TimeSlice,
): Promise<LaidRows> {
  const keysOfBase = (indexes: readonly number[]) => dedupIdsAt(target, base.rows, indexes, slice)
  const positions = await assignPositions(base.rows, rows, keysOfBase, slice)
  const placed: RowEntry[] = []
  await slice.each(rows, ({ oid, meta }, index) =>
    placed.push({ position: positions[index] ?? '', oid, meta }),
  )
  const changes = await rowChanges(base.rows, placed, slice)
  const tree = await editRows(target, base.tree, changes, slice)
  if (tree !== undefined) await rowKeys.seed(target, tree, rows.values(), slice)
  return { tree, changedRows: countChanges(changes, placed.length - base.rows.length) }
}

/**
 * Counts changes by kind; `more` is the difference in the number of rows. Each change removes an existing row, or sets one to a new value.
 */
export function countChanges(changes: Iterable<RowChange>, more: number): ChangedRows {
  let [set, removed] = [0, 0]
  for (const [, row] of changes) {
    if (row) set++
    else removed++
  }
  const added = more + removed
  return { added, changed: set - added, removed }
}

async function dedupIdsAt(
  source: ObjectReader,
  base: readonly RowEntry[],
  indexes: readonly number[],
  slice: TimeSlice,
): Promise<(string | undefined)[]> {
  const oids = indexes.flatMap((index) => base[index]?.oid ?? [])
  const dedupIds: (string | undefined)[] = []
  for (let at = 0; at < oids.length; at += AT_ONCE) {
    for (const bytes of await readBlobs(source, oids.slice(at, at + AT_ONCE))) dedupIds.push(dedupIdIn(bytes))
    if (slice.isOver) await slice.rest()
  }
  return dedupIds
}

/** Undefined for a row that git damaged, so that another row can take its position. */
function dedupIdIn(bytes: Buffer): string | undefined {
  try {
    return dedupIdOf(decodeRow(bytes))
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

const AT_ONCE = 512

/** A row without a position yet: its blob, and its dedup id, which an edit does not change. */
export interface UnplacedRow {
  readonly oid: Oid
  readonly key: string
}

/** The dedup ids of the base's rows at these indexes; undefined for a row without one. */
export type KeysOfBase = (indexes: readonly number[]) => Promise<readonly (string | undefined)[]>

/**
 * Chooses ascending positions for the rows of `next`, so that git shows exactly the changes since `base` (its rows in order). A row that
 * the base has, by content or else by dedup id, keeps its position if the order allows it. Rows between two kept ones take the positions of
 * removed rows, then new ones. If these would be too deep, all rows are numbered again. `keysOfBase` is called at most once, for rows whose
 * content is gone.
 */
export async function assignPositions(
  base: readonly RowEntry[],
  next: readonly UnplacedRow[],
  keysOfBase: KeysOfBase,
  slice: TimeSlice,
): Promise<readonly RowPosition[]> {
  const kept = await longestRising(await matchRows(base, next, keysOfBase, slice), slice)
  const positions: RowPosition[] = []
  let previous = -1
  let count = 0
  for (let index = 0; index <= next.length; index++) {
    const match = index === next.length ? base.length : (kept[index] ?? NONE)
    if (match === NONE) {
      count++
      continue
    }
    for (const part of positionsInGap(base, { previous, following: match, count })) {
      for (const position of part) {
        if (isTooDeep(position)) return positionsAfter(undefined, next.length)
        positions.push(position)
      }
      if (slice.isOver) await slice.rest()
    }
    const position = base[match]?.position
    if (position !== undefined) positions.push(position)
    previous = match
    count = 0
    if (index % ROWS_BETWEEN_CLOCK_READS === 0 && slice.isOver) await slice.rest()
  }
  return positions
}

/** The changes for `editRows` that turn the rows of `base` into those of `next`; all three ascend. */
export async function rowChanges(
  base: readonly RowEntry[],
  next: readonly RowEntry[],
  slice: TimeSlice,
): Promise<RowChange[]> {
  const changes: RowChange[] = []
  for (let [old, at, step] = [0, 0, 1]; old < base.length || at < next.length; step++) {
    const [before, row] = [base[old], next[at]]
    if (before && (!row || before.position < row.position)) {
      changes.push([before.position, undefined])
      old++
    } else if (row) {
      const isThere = before?.position === row.position
      if (!isThere || before.oid !== row.oid || before.meta !== row.meta) changes.push([row.position, row])
      if (isThere) old++
      at++
    }
    if (step % ROWS_BETWEEN_CLOCK_READS === 0 && slice.isOver) await slice.rest()
  }
  return changes
}

const NONE = -1

const ROWS_BETWEEN_CLOCK_READS = 256

/** For each row of `next`, the index of the same row in the base, or NONE; each base row at most once. */
async function matchRows(
  base: readonly RowEntry[],
  next: readonly UnplacedRow[],
  keysOfBase: KeysOfBase,
  slice: TimeSlice,
): Promise<Int32Array> {
  if (base.length === 0) return new Int32Array(next.length).fill(NONE)
  const matches = await matchNames(await oidsOf(base, slice), await oidsOf(next, slice), slice)
  const left = await indexesOf(NONE, matches, slice)
  if (left.length === 0) return matches
  const isTaken = new Uint8Array(base.length)
  await slice.each(matches, (match) => {
    if (match !== NONE) isTaken[match] = 1
  })
  const gone = await indexesOf(0, isTaken, slice)
  if (gone.length === 0) return matches
  const keys = left.map((index) => next[index]?.key)
  await slice.each(await matchNames(await keysOfBase(gone), keys, slice), (match, at) => {
    matches[left[at] ?? 0] = gone[match] ?? NONE
  })
  return matches
}

async function oidsOf(rows: readonly { readonly oid: Oid }[], slice: TimeSlice): Promise<Oid[]> {
  const oids: Oid[] = []
  await slice.each(rows, ({ oid }) => oids.push(oid))
  return oids
}

async function indexesOf(
  wanted: number,
  values: Int32Array | Uint8Array,
  slice: TimeSlice,
): Promise<number[]> {
  const indexes: number[] = []
  await slice.each(values, (value, index) => {
    if (value === wanted) indexes.push(index)
  })
  return indexes
}

/** The distance at which a name is searched before the table is used. */
const AHEAD = 4

/**
 * For each name of `next`, an index at which `base` has it, or NONE; each index at most once. Most revisions change little and keep the
 * order, so a name at the expected place or at the end is found without a table, in a tenth of the time.
 */
async function matchNames(
  base: readonly Name[],
  next: readonly Name[],
  slice: TimeSlice,
): Promise<Int32Array> {
  const matches = new Int32Array(next.length).fill(NONE)
  const isTaken = new Uint8Array(base.length)
  const take = (index: number, match: number): void => {
    matches[index] = match
    isTaken[match] = 1
  }
  let [baseEnd, nextEnd] = [base.length, next.length]
  while (baseEnd > 0 && nextEnd > 0 && isSame(base[baseEnd - 1], next[nextEnd - 1])) {
    take(--nextEnd, --baseEnd)
    if (nextEnd % ROWS_BETWEEN_CLOCK_READS === 0 && slice.isOver) await slice.rest()
  }
  let turn = 0
  await slice.each(nextEnd < next.length ? next.slice(0, nextEnd) : next, (name, index) => {
    const limit = Math.min(baseEnd, turn + AHEAD)
    let match = turn
    while (match < limit && !isSame(base[match], name)) match++
    if (match === limit) return
    take(index, match)
    turn = match + 1
  })
  const left = await indexesOf(NONE, matches.subarray(0, nextEnd), slice)
  if (left.length === 0) return matches
  const free = await indexesOf(0, isTaken.subarray(0, baseEnd), slice)
  const takeFirst = await takingOnce(base, free, slice)
  await slice.each(left, (index) => {
    matches[index] = takeFirst(next[index])
  })
  return matches
}

type Name = string | undefined

function isSame(a: Name, b: Name): boolean {
  return a !== undefined && a === b
}

/** Answers, for a name, its first unused index in `indexes`; NONE if there is none left. */
async function takingOnce(
  names: readonly Name[],
  indexes: readonly number[],
  slice: TimeSlice,
): Promise<(name: Name) => number> {
  const first = new Map<string, number>()
  const following = new Int32Array(names.length).fill(NONE)
  await slice.each(indexes.toReversed(), (index) => {
    const name = names[index]
    if (name === undefined) return
    following[index] = first.get(name) ?? NONE
    first.set(name, index)
  })
  return (name) => {
    const index = name === undefined ? NONE : (first.get(name) ?? NONE)
    if (name !== undefined && index !== NONE) first.set(name, following[index] ?? NONE)
    return index
  }
}

/** The values with all but a longest rising subsequence replaced by NONE (patience sorting, n log n). */
async function longestRising(values: Int32Array, slice: TimeSlice): Promise<Int32Array> {
  // ends[n]: the end of the run of n + 1 rising values whose last value is lowest
  const ends = new Int32Array(values.length)
  const before = new Int32Array(values.length)
  let length = 0
  await slice.each(values, (value, at) => {
    if (value === NONE) return
    const rank = rankOf(value, values, ends, length)
    before[at] = rank === 0 ? NONE : (ends[rank - 1] ?? NONE)
    ends[rank] = at
    length = Math.max(length, rank + 1)
  })
  const kept = new Int32Array(values.length).fill(NONE)
  for (let at = length === 0 ? NONE : (ends[length - 1] ?? NONE); at !== NONE; at = before[at] ?? NONE) {
    kept[at] = values[at] ?? NONE
  }
  return kept
}

/** The number of runs that end below the value; most values only extend the longest run. */
function rankOf(value: number, values: Int32Array, ends: Int32Array, length: number): number {
  const endOf = (rank: number): number => values[ends[rank] ?? 0] ?? NONE
  if (length === 0 || endOf(length - 1) < value) return length
  let [low, high] = [0, length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (endOf(middle) < value) low = middle + 1
    else high = middle
  }
  return low
}

interface Gap {
  /** The neighbouring kept rows of the base; -1 and the base's length at its ends. */
  readonly previous: number
  readonly following: number
  /** The number of rows in this gap. */
  readonly count: number
}

/** Positions between two kept rows for the rows of the gap, ascending, some thousands at a time. */
function* positionsInGap(
  base: readonly RowEntry[],
  { previous, following, count }: Gap,
): Generator<readonly RowPosition[]> {
  const reusedEnd = previous + 1 + Math.min(count, following - previous - 1)
  for (let from = previous + 1; from < reusedEnd; from += PART)
    yield base.slice(from, Math.min(reusedEnd, from + PART)).map(({ position }) => position)
  let left = count - (reusedEnd - previous - 1)
  if (following < base.length) {
    if (left > 0) yield positionsBetween(base[following - 1]?.position, base[following]?.position, left)
    return
  }
  for (let last = base.at(-1)?.position; left > 0; left -= PART) {
    const part = positionsAfter(last, Math.min(left, PART))
    last = part.at(-1)
    yield part
  }
}

const PART = 8192
