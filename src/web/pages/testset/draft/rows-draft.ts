import type { Members } from '../../../api/json.ts'
import { randomKey } from '../../../api/upload.ts'

/** A row of a draft: the offset of a row in the base revision, or a negative number for a row that the draft adds. */
export type RowId = number

/** Consecutive rows of the draft: `start`, `start + 1` … of the base, or `start`, `start - 1` … of those added. */
export interface Piece {
  readonly start: RowId
  readonly count: number
  /** Whether the user moved these rows. */
  readonly isMoved?: boolean
}

/** A column of the draft. */
export interface DraftColumn {
  /** Its name in the base, or a text that begins with NUL for a column that the draft adds. */
  readonly key: string
  readonly name: string
}

/** Cells by the keys of their columns; undefined: the cell is removed. */
export type Cells = ReadonlyMap<string, unknown>

/** Changes over the rows of a revision. Immutable; rows that did not change are not in it, so the revision may have any number of rows. */
export interface RowsDraft {
  /** All rows in their order. */
  readonly pieces: readonly Piece[]
  /** The cells that differ from the base, and all cells of added rows. */
  readonly cells: ReadonlyMap<RowId, Cells>
  readonly columns: readonly DraftColumn[]
  /** How many rows and columns were added so far, also those removed again: none gets the id of another. */
  readonly made: number
  /** Begins the Row IDs of the rows that the draft adds. */
  readonly seed: string
}

/** A draft without changes. */
export function unchanged(total: number, columns: readonly string[]): RowsDraft {
  return {
    pieces: total === 0 ? [] : [{ start: 0, count: total }],
    cells: new Map(),
    columns: columns.map((name) => ({ key: name, name })),
    made: 0,
    seed: randomKey(12),
  }
}

const ends = new WeakMap<readonly Piece[], Float64Array>()

/** For each piece, the number of rows up to its end. */
function endsOf(pieces: readonly Piece[]): Float64Array {
  const known = ends.get(pieces)
  if (known) return known
  const found = new Float64Array(pieces.length)
  let sum = 0
  for (const [at, { count }] of pieces.entries()) found[at] = sum += count
  ends.set(pieces, found)
  return found
}

/** The number of rows. */
export function rowCount({ pieces }: RowsDraft): number {
  return endsOf(pieces).at(-1) ?? 0
}

/** The row at an index, counted from 0. */
export function rowIdAt({ pieces }: RowsDraft, index: number): RowId | undefined {
  const sums = endsOf(pieces)
  let [low, high] = [0, sums.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((sums[middle] ?? 0) <= index) low = middle + 1
    else high = middle
  }
  const piece = pieces[low]
  return index < 0 || !piece ? undefined : idIn(piece, index - ((sums[low] ?? 0) - piece.count))
}

/** The index of a row; -1 if the draft removes it. */
export function indexOfRow({ pieces }: RowsDraft, id: RowId): number {
  let before = 0
  for (const { start, count } of pieces) {
    const step = id >= 0 ? id - start : start - id
    if (start >= 0 === id >= 0 && step >= 0 && step < count) return before + step
    before += count
  }
  return -1
}

function idIn({ start }: Piece, step: number): RowId {
  return start >= 0 ? start + step : start - step
}

/** The rows from `from` to before `to`, as pieces. */
export function piecesBetween({ pieces }: RowsDraft, from: number, to: number): readonly Piece[] {
  const sums = endsOf(pieces)
  return pieces.flatMap((piece, at) => {
    const end = sums[at] ?? 0
    const start = end - piece.count
    const [first, last] = [Math.max(from, start), Math.min(to, end)]
    return first < last ? [{ ...piece, start: idIn(piece, first - start), count: last - first }] : []
  })
}

/** The Row ID that an added row gets. */
export function addedKey({ seed }: RowsDraft, id: RowId): string {
  return `${seed}-${-id}`
}

/** Joins neighbours that follow each other, so that undoing by hand leaves no trace. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const found: Piece[] = []
  for (const piece of pieces) {
    const last = found.at(-1)
    if (
      last &&
      last.isMoved === piece.isMoved &&
      last.start >= 0 === piece.start >= 0 &&
      idIn(last, last.count) === piece.start
    )
      found[found.length - 1] = { ...last, count: last.count + piece.count }
    else found.push(piece)
  }
  return found
}

/** A cell to set. */
export interface CellEdit {
  readonly id: RowId
  readonly key: string
  readonly value: unknown
  /** Whether this is what the base has. */
  readonly isBase?: boolean
}

/** Sets cells. */
export function withCells(draft: RowsDraft, edits: Iterable<CellEdit>): RowsDraft {
  const cells = new Map(draft.cells)
  const own = new Map<RowId, Map<string, unknown>>()
  for (const { id, key, value, isBase = false } of edits) {
    let row = own.get(id)
    if (!row) {
      row = new Map(cells.get(id))
      own.set(id, row)
      cells.set(id, row)
    }
    if (isBase || (id < 0 && value === undefined)) row.delete(key)
    else row.set(key, value)
    if (row.size === 0) cells.delete(id)
    else cells.set(id, row)
  }
  return { ...draft, cells }
}

/** Adds rows before the row at an index; returns the draft and the first new row's id: the others count down from it. */
export function withRows(
  draft: RowsDraft,
  at: number,
  rows: readonly Cells[],
): { readonly draft: RowsDraft; readonly first: RowId } {
  const first = -1 - draft.made
  const cells = new Map(draft.cells)
  for (const [step, row] of rows.entries()) if (row.size > 0) cells.set(first - step, row)
  const pieces = joined([
    ...piecesBetween(draft, 0, at),
    { start: first, count: rows.length },
    ...piecesBetween(draft, at, Infinity),
  ])
  return { draft: { ...draft, pieces, cells, made: draft.made + rows.length }, first }
}

/** Removes the rows from `from` to before `to`. Their changed cells go with them. */
export function withoutRows(draft: RowsDraft, from: number, to: number): RowsDraft {
  const cells = new Map(draft.cells)
  for (const piece of piecesBetween(draft, from, to)) {
    if (piece.count > cells.size) {
      for (const id of cells.keys()) if (indexOfRow({ ...draft, pieces: [piece] }, id) >= 0) cells.delete(id)
    } else for (let step = 0; step < piece.count; step++) cells.delete(idIn(piece, step))
  }
  const pieces = joined([...piecesBetween(draft, 0, from), ...piecesBetween(draft, to, Infinity)])
  return { ...draft, pieces, cells }
}

/** Moves the rows from `from` to before `to` by one place, up (-1) or down (1). */
export function withMovedRows(draft: RowsDraft, from: number, to: number, by: -1 | 1): RowsDraft {
  if (by < 0 ? from === 0 : to >= rowCount(draft)) return draft
  const moving = piecesBetween(draft, from, to).map((it) => (it.start < 0 ? it : { ...it, isMoved: true }))
  const beside = by < 0 ? piecesBetween(draft, from - 1, from) : piecesBetween(draft, to, to + 1)
  const [start, end] = by < 0 ? [from - 1, to] : [from, to + 1]
  const pieces = joined([
    ...piecesBetween(draft, 0, start),
    ...(by < 0 ? [...moving, ...beside] : [...beside, ...moving]),
    ...piecesBetween(draft, end, Infinity),
  ])
  return { ...draft, pieces: settled(pieces) }
}

/** Rows that are back in the order of the base are not moved. */
function settled(pieces: readonly Piece[]): readonly Piece[] {
  const ofBase = pieces.filter(({ start }) => start >= 0)
  const isRising = ofBase.every((it, at) => at === 0 || it.start > (ofBase[at - 1]?.start ?? 0))
  return isRising ? joined(pieces.map(({ start, count }) => ({ start, count }))) : pieces
}

/** Adds a column before the one at `at`. */
export function withColumn(draft: RowsDraft, at: number, name: string): RowsDraft {
  const key = `\0${draft.made}`
  return { ...draft, columns: draft.columns.toSpliced(at, 0, { key, name }), made: draft.made + 1 }
}

/** Renames a column. */
export function withName(draft: RowsDraft, at: number, name: string): RowsDraft {
  return { ...draft, columns: draft.columns.map((it, index) => (index === at ? { ...it, name } : it)) }
}

/** Removes a column. */
export function withoutColumn(draft: RowsDraft, at: number): RowsDraft {
  return { ...draft, columns: draft.columns.toSpliced(at, 1) }
}

/** Moves a column by one place. */
export function withMovedColumn(draft: RowsDraft, at: number, by: -1 | 1): RowsDraft {
  const [column] = draft.columns.slice(at, at + 1)
  const to = at + by
  if (!column || to < 0 || to >= draft.columns.length) return draft
  return { ...draft, columns: draft.columns.toSpliced(at, 1).toSpliced(to, 0, column) }
}

/**
 * The values of a row as the draft has them, by the names of columns. `base` is the row in the base revision, whose columns are `known`; values
 * in no known column stay.
 */
export function valuesOf(draft: RowsDraft, id: RowId, base: Members, known: ReadonlySet<string>): Members {
  const own = draft.cells.get(id)
  const values = Object.create(null) as Record<string, unknown>
  for (const { key, name } of draft.columns) {
    const value = own?.has(key) ? own.get(key) : Object.hasOwn(base, key) ? base[key] : undefined
    if (value !== undefined) values[name] = value
  }
  for (const name of Object.keys(base)) if (!known.has(name)) values[name] = base[name]
  return values
}

/** What a draft changes, in numbers. */
export interface DraftCounts {
  readonly changed: number
  readonly added: number
  readonly removed: number
  readonly moved: number
  /** Columns that were added, renamed, removed or moved. */
  readonly columns: number
}

/** Counts what the draft changes of a base with `total` rows and these columns. */
export function countsOf(draft: RowsDraft, total: number, columns: readonly string[]): DraftCounts {
  const keys = new Set(draft.columns.map(({ key }) => key))
  const counts = { changed: 0, added: 0, removed: total, moved: 0, columns: 0 }
  for (const { start, count, isMoved } of draft.pieces) {
    if (start < 0) counts.added += count
    else counts.removed -= count
    if (isMoved) counts.moved += count
  }
  for (const [id, cells] of draft.cells)
    if (id >= 0 && [...cells.keys()].some((key) => keys.has(key))) counts.changed++
  const gone = columns.filter((name) => !keys.has(name)).length
  const renamed = draft.columns.filter(({ key, name }) => key !== name).length
  counts.columns = gone + renamed
  if (counts.columns === 0 && isReordered(draft, columns)) counts.columns = 1
  return counts
}

/** Whether columns of the base stand in another order. */
export function isReordered({ columns: now }: RowsDraft, columns: readonly string[]): boolean {
  const names = new Set(columns)
  const left = now.filter(({ key }) => names.has(key)).map(({ key }) => key)
  const kept = new Set(left)
  const added = now.findIndex(({ key }) => !names.has(key))
  return (
    columns.filter((name) => kept.has(name)).some((name, at) => name !== left[at]) ||
    (added >= 0 && added < left.length)
  )
}

/** Whether the draft changes nothing. */
export function isNothing({ changed, added, removed, moved, columns }: DraftCounts): boolean {
  return changed + added + removed + moved + columns === 0
}
