import { type KeyboardEvent, useEffect, useState } from 'react'
import type { GridEditing } from '../../../parts/grid/grid.tsx'
import { type GridPlace, type GridRange, rangeOf } from '../../../parts/grid/geometry.ts'
import type { Row } from '../rows.ts'
import {
  type ColumnType,
  fitsInCell,
  isSameValue,
  textOfValue,
  typeOfColumn,
  valueOfText,
} from './cell-values.ts'
import { type PastedTable, tableIn, textOfTable } from './clipboard.ts'
import {
  type CellEdit,
  type Cells,
  rowCount,
  type RowId,
  rowIdAt,
  type RowsDraft,
  valuesOf,
  withCells,
  withColumn,
  withMovedColumn,
  withMovedRows,
  withName,
  withoutColumn,
  withoutRows,
  withRows,
} from './rows-draft.ts'
import type { ReadRows } from './save-rows.ts'
import type { RowsBase, RowsDraftState } from './use-rows-draft.ts'

/** Larger ranges are refused: the browser would stop for too long. */
const MOST_CELLS = 500_000

/** Pastes of more cells show first what they would do. */
const PASTED_AT_ONCE = 1000

/** A table to paste once the user agrees. */
export interface AskedPaste {
  readonly table: PastedTable
  readonly at: GridPlace
}

export interface SheetAsked {
  readonly base: RowsBase
  readonly state: RowsDraftState
  /** A row by its index; undefined while it is loading. */
  readonly rowAt: (index: number) => Row | undefined
  /** A row of the base by its offset; undefined while it is not loaded. */
  readonly baseAt: (id: RowId) => Row | undefined
  readonly read: ReadRows
  readonly sample: readonly Row[]
  readonly active: GridPlace
  readonly anchor: GridPlace | undefined
  readonly move: (place: GridPlace, anchor?: GridPlace) => void
  /** The key under which this browser keeps the types that were chosen. */
  readonly typesKey: string
}

/** A draft as a spreadsheet: what keys, menus and the clipboard do to the selected cells. */
export function useSheet({
  base,
  state,
  rowAt,
  baseAt,
  read,
  sample,
  active,
  anchor,
  move,
  typesKey,
}: SheetAsked) {
  const { draft, change } = state
  const total = rowCount(draft)
  const [types, setTypes] = useState(() => keptTypes(typesKey))
  const [said, say] = useState('')
  const [asked, setAsked] = useState<AskedPaste>()
  // What was said is about edits that are saved now.
  useEffect(() => say(''), [base.id])
  const range = rangeOf(active, anchor)
  const rows: GridRange = { ...range, bottom: Math.min(range.bottom, total - 1) }
  const columnOf = (place: GridPlace) => draft.columns[place.column - 1]

  function typeOf(key: string, name: string): ColumnType {
    return (
      types.get(name) ??
      typeOfColumn(sample.map(({ values }) => (Object.hasOwn(values, key) ? values[key] : undefined)))
    )
  }

  function editOf(id: RowId, key: string, value: unknown): CellEdit {
    const row = id < 0 ? undefined : baseAt(id)
    const before = row && Object.hasOwn(row.values, key) ? row.values[key] : undefined
    return { id, key, value, isBase: row !== undefined && isSameValue(before, value) }
  }

  function setValue({ row, column }: GridPlace, value: unknown): void {
    const { key } = draft.columns[column - 1] ?? {}
    if (key === undefined) return
    change((it) => {
      const { draft: grown } = row < rowCount(it) ? { draft: it } : withRows(it, rowCount(it), [new Map()])
      const id = rowIdAt(grown, row)
      return id === undefined ? it : withCells(grown, [editOf(id, key, value)])
    })
  }

  function valueAt(place: GridPlace): unknown {
    const column = columnOf(place)
    const row = place.row < total ? rowAt(place.row) : undefined
    return column && row && Object.hasOwn(row.values, column.name) ? row.values[column.name] : undefined
  }

  function enter(place: GridPlace, text: string): void {
    const column = columnOf(place)
    if (!column) return
    const type = typeOf(column.key, column.name)
    const { value, isOdd } = valueOfText(text, type, {
      isChosen: types.has(column.name),
      before: valueAt(place),
    })
    say(isOdd ? `“${text.slice(0, 40)}” is no ${type === 'json' ? 'JSON' : type}: it is kept as text.` : '')
    if (!isSameValue(value, valueAt(place))) setValue(place, value)
  }

  /** Writes a table at a place; rows and columns that are missing are added. */
  function write(table: PastedTable, at: GridPlace, names?: readonly string[]): void {
    change((before) => {
      let now = before
      const width = table.reduce((most, { length }) => Math.max(most, length), 0)
      const first = Math.max(1, at.column)
      while (now.columns.length < first - 1 + width)
        now = withColumn(now, now.columns.length, freeName(now, names?.[now.columns.length - first + 1]))
      const missing = at.row + table.length - rowCount(now)
      if (missing > 0)
        now = withRows(
          now,
          rowCount(now),
          Array.from({ length: missing }, () => NO_CELLS),
        ).draft
      const columns = now.columns.slice(first - 1, first - 1 + width)
      const kinds = columns.map(({ key, name }) => typeOf(key, name))
      const edits = function* (): Generator<CellEdit> {
        for (const [step, cells] of table.entries()) {
          const id = rowIdAt(now, at.row + step)
          if (id === undefined) continue
          const row = id < 0 ? undefined : baseAt(id)
          for (const [index, text] of cells.entries()) {
            const column = columns[index]
            if (!column) continue
            const held = row && Object.hasOwn(row.values, column.key) ? row.values[column.key] : undefined
            const { value } = valueOfText(text, kinds[index] ?? 'text', {
              isChosen: types.has(column.name),
              before: held,
            })
            yield editOf(id, column.key, value)
          }
        }
      }
      return withCells(now, edits())
    })
    const [bottom, right] = [at.row + table.length - 1, Math.max(1, at.column) + (table[0]?.length ?? 1) - 1]
    move({ row: bottom, column: right }, { row: at.row, column: Math.max(1, at.column) })
  }

  async function paste(plain: string, html: string): Promise<void> {
    const table = await tableIn(plain, html)
    const cells = table.reduce((sum, { length }) => sum + length, 0)
    if (cells === 0 || (cells === 1 && table[0]?.[0] === '')) return
    if (cells > MOST_CELLS)
      return say(`${cells.toLocaleString()} cells are too many to paste: upload them as a file.`)
    const at = { row: range.top, column: Math.max(1, range.left) }
    const [[one = ''] = []] = table
    const size = (range.bottom - range.top + 1) * (range.right - at.column + 1)
    if (cells === 1 && size > 1) {
      if (size > MOST_CELLS) return say(TOO_LARGE)
      const width = range.right - at.column + 1
      return write(
        Array.from({ length: range.bottom - range.top + 1 }, () => Array<string>(width).fill(one)),
        at,
      )
    }
    // A table for a testset without columns: its first row may have their names.
    if (cells > PASTED_AT_ONCE || (draft.columns.length === 0 && table.length > 1))
      return setAsked({ table, at })
    say('')
    write(table, at)
  }

  function isTooLarge(): boolean {
    const isLarge = (rows.bottom - rows.top + 1) * (range.right - range.left + 1) > MOST_CELLS
    say(isLarge ? TOO_LARGE : '')
    return isLarge
  }

  /** Sets every selected cell; `valueOf` gets the column's key and name. */
  function setAll(from: number, valueOf: (key: string, name: string) => unknown): void {
    if (isTooLarge()) return
    const columns = draft.columns.slice(Math.max(1, range.left) - 1, range.right)
    change((it) =>
      withCells(
        it,
        (function* () {
          for (let index = from; index <= rows.bottom; index++) {
            const id = rowIdAt(it, index)
            if (id !== undefined)
              for (const { key, name } of columns) yield editOf(id, key, valueOf(key, name))
          }
        })(),
      ),
    )
  }

  function fillDown(): void {
    const from = rows.top === rows.bottom ? rows.top - 1 : rows.top
    const row = from < 0 ? undefined : rowAt(from)
    if (!row) return say(from < 0 ? 'Select the cells to fill.' : 'The row is still loading.')
    setAll(from + 1, (_key, name) => (Object.hasOwn(row.values, name) ? row.values[name] : undefined))
  }

  /** The selected cells as text; undefined if they are not loaded: then they are copied once they are. */
  function copied(): string | undefined {
    if (isTooLarge()) return undefined
    const indexes = Array.from({ length: rows.bottom - rows.top + 1 }, (_, step) => rows.top + step)
    const names = draft.columns.slice(Math.max(1, range.left) - 1, range.right).map(({ name }) => name)
    const line = ({ key, values }: Pick<Row, 'key' | 'values'>): readonly string[] => [
      ...(range.left === 0 ? [key] : []),
      ...names.map((name) => (Object.hasOwn(values, name) ? textOfValue(values[name]) : '')),
    ]
    const loaded = indexes.flatMap((index) => rowAt(index) ?? [])
    // One cell is its text, without a spreadsheet's quotes.
    if (loaded.length === 1 && range.left === range.right) return loaded.map(line)[0]?.[0]
    if (loaded.length === indexes.length) return textOfTable(loaded.map(line))
    void copyLater(indexes, line)
    return undefined
  }

  async function copyLater(
    indexes: readonly number[],
    line: (row: Pick<Row, 'key' | 'values'>) => readonly string[],
  ): Promise<void> {
    try {
      say('Loading the rows to copy …')
      const found = await rowsAt(indexes)
      await navigator.clipboard.writeText(textOfTable(found.map(line)))
      say(`${found.length.toLocaleString()} rows are in the clipboard.`)
    } catch (error) {
      say(error instanceof Error ? error.message : String(error))
    }
  }

  async function rowsAt(indexes: readonly number[]): Promise<readonly Pick<Row, 'key' | 'values'>[]> {
    const ids = indexes.flatMap((index) => rowIdAt(draft, index) ?? [])
    const found = await read(ids.filter((id) => id >= 0))
    return ids.map((id) => {
      const row = found.get(id)
      return { key: row?.key ?? '', values: valuesOf(draft, id, row?.values ?? {}, new Set(base.columns)) }
    })
  }

  async function duplicateRows(): Promise<void> {
    if (isTooLarge() || rows.bottom < rows.top) return
    const indexes = Array.from({ length: rows.bottom - rows.top + 1 }, (_, step) => rows.top + step)
    const found = await rowsAt(indexes)
    const byName = new Map(draft.columns.map(({ key, name }) => [name, key]))
    const copies = found.map(
      ({ values }): Cells =>
        new Map(
          Object.entries(values).flatMap(([name, value]) =>
            byName.has(name) ? [[byName.get(name) ?? name, value]] : [],
          ),
        ),
    )
    change((it) => withRows(it, rows.bottom + 1, copies).draft)
    move(
      { row: rows.bottom + copies.length, column: range.right },
      { row: rows.bottom + 1, column: range.left },
    )
  }

  function insertRows(at: number): void {
    const count = Math.max(1, rows.bottom - rows.top + 1)
    change(
      (it) =>
        withRows(
          it,
          at,
          Array.from({ length: count }, () => NO_CELLS),
        ).draft,
    )
    move({ row: at, column: active.column })
  }

  function removeRows(): void {
    if (rows.bottom < rows.top) return
    change((it) => withoutRows(it, rows.top, rows.bottom + 1))
    say(
      rows.bottom === rows.top
        ? 'Row removed.'
        : `${(rows.bottom - rows.top + 1).toLocaleString()} rows removed.`,
    )
    move({ row: Math.min(rows.top, total - (rows.bottom - rows.top + 1)), column: active.column })
  }

  function moveRows(by: -1 | 1): void {
    if (rows.bottom < rows.top || (by < 0 ? rows.top === 0 : rows.bottom >= total - 1)) return
    change((it) => withMovedRows(it, rows.top, rows.bottom + 1, by))
    move({ ...active, row: active.row + by }, anchor && { ...anchor, row: anchor.row + by })
  }

  function changeColumn(at: number, name: string, type: ColumnType): void {
    const { key, name: before } = draft.columns[at] ?? {}
    if (key === undefined || before === undefined) return
    const now = new Map(types)
    if (types.has(before) || type !== typeOf(key, before)) now.set(name, type)
    setTypes(keepTypes(typesKey, now))
    if (name !== before) change((it) => withName(it, at, name))
  }

  function onKey(event: KeyboardEvent): boolean {
    const { key, altKey, shiftKey } = event
    if (altKey) {
      if (key !== 'ArrowUp' && key !== 'ArrowDown') return false
      moveRows(key === 'ArrowUp' ? -1 : 1)
      return true
    }
    if (key === 'Delete' || key === 'Backspace') {
      clear()
      return true
    }
    if (!event.ctrlKey && !event.metaKey) return false
    switch (key.toLowerCase()) {
      case 'z':
        ;(shiftKey ? state.redo : state.undo)?.()
        return true
      case 'y':
        state.redo?.()
        return true
      case 'd':
        fillDown()
        return true
      case 'a':
        move({ row: Math.max(0, total - 1), column: draft.columns.length }, { row: 0, column: 1 })
        return true
      default:
        return false
    }
  }

  function clear(): void {
    setAll(rows.top, (key, name) => (typeOf(key, name) === 'text' ? '' : undefined))
  }

  const editing: GridEditing = {
    textOf: (place, isReplaced) => {
      // A cell that is still loading can be replaced, not changed.
      if (place.row < total && !rowAt(place.row)) return isReplaced && columnOf(place) ? '' : undefined
      const value = valueAt(place)
      return columnOf(place) && fitsInCell(value) ? textOfValue(value) : undefined
    },
    enter,
    paste: (plain, html) => void paste(plain, html),
    clear,
    onKey,
  }

  return {
    editing,
    total,
    rows,
    /** What the last action said. */
    said,
    copied,
    asked,
    /** Pastes what was asked about. */
    pasteAsked: (hasNames: boolean) => {
      if (!asked) return
      const { table, at } = asked
      setAsked(undefined)
      if (hasNames) write(table.slice(1), at, table[0])
      else write(table, at)
    },
    cancelPaste: () => setAsked(undefined),
    valueAt,
    setValue,
    typeAt: (at: number) => typeOf(draft.columns[at]?.key ?? '', draft.columns[at]?.name ?? ''),
    changeColumn,
    fillDown,
    insertAbove: () => insertRows(Math.min(range.top, total)),
    insertBelow: () => insertRows(Math.min(range.bottom + 1, total)),
    duplicateRows: () => void duplicateRows().catch((error: unknown) => say(String(error))),
    removeRows,
    moveRows,
    addColumn: (at: number, name: string, type: ColumnType) => {
      change((it) => withColumn(it, at, name))
      setTypes(keepTypes(typesKey, new Map(types).set(name, type)))
      move({ row: active.row, column: at + 1 })
    },
    removeColumn: (at: number) => change((it) => withoutColumn(it, at)),
    moveColumn: (at: number, by: -1 | 1) => {
      change((it) => withMovedColumn(it, at, by))
      move({ row: active.row, column: Math.min(Math.max(1, at + 1 + by), draft.columns.length) })
    },
  }
}

export type Sheet = ReturnType<typeof useSheet>

const NO_CELLS: Cells = new Map()
const TOO_LARGE = `At most ${MOST_CELLS.toLocaleString()} cells at once. Select fewer, or upload a file.`

/** A name that no column has: the wanted one if it is free. */
function freeName({ columns }: RowsDraft, wanted?: string): string {
  const taken = new Set(columns.map(({ name }) => name))
  const stem = wanted?.trim() || `column ${columns.length + 1}`
  for (let number = 2, name = stem; ; name = `${stem} ${number++}`) if (!taken.has(name)) return name
}

type Types = ReadonlyMap<string, ColumnType>

/** The types that the user chose in this browser, by name. */
function keptTypes(key: string): Types {
  try {
    return new Map(
      JSON.parse(localStorage.getItem(key) ?? '[]') as readonly (readonly [string, ColumnType])[],
    )
  } catch {
    return new Map()
  }
}

function keepTypes(key: string, types: Types): Types {
  try {
    localStorage.setItem(key, JSON.stringify([...types]))
  } catch {
    // A browser that cannot store them loses the types with the page.
  }
  return types
}
