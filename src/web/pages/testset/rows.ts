import type { JsonObject } from '#routes'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useQueryClient } from '@tanstack/react-query'
import { type Ask, call, Problem, type Answer } from '../../api/call.ts'
import { useParts, useRoute } from '../../api/use-route.ts'
import type { GridRow } from '../../parts/grid/cells.tsx'
import {
  addedKey,
  type Cells,
  type Piece,
  piecesBetween,
  type RowId,
  rowIdAt,
  type RowsDraft,
  valuesOf,
} from './draft/rows-draft.ts'

const ROWS_READ_FIRST = 8
const MOST_ROWS = 128
/** The approximate number of characters per request. */
const PAGE_LENGTH = 600_000

/** The columns of a revision, its first rows, and the size of a page: smaller for long rows. Undefined: a testset without a version. */
export function useShape(revisionId: string | undefined) {
  const options = { immutable: true, enabled: revisionId !== undefined }
  const id = revisionId ?? ''
  const first = useRoute('POST /testsets/revisions/retrieve', askRows(id, 0, ROWS_READ_FIRST), options)
  const list = useRoute(
    'GET /testsets/revisions/{id}/files/{path}',
    { path: { id, path: 'columns.json' } },
    options,
  )
  if (revisionId === undefined) return { shape: NO_SHAPE, error: null, refetch: () => undefined }
  const hasNoList = list.error instanceof Problem && list.error.status === 404
  const error = first.error ?? (hasNoList ? null : list.error)
  const refetch = first.error ? first.refetch : list.refetch
  if (!first.data || (list.data === undefined && !hasNoList)) return { shape: undefined, error, refetch }
  const sample = rowsIn(first.data)
  return { shape: shapeOf(list.data, sample), error: null, refetch }
}

const NO_SHAPE: Shape = { columns: [], sample: [], pageSize: MOST_ROWS }

export interface Shape {
  readonly columns: readonly string[]
  readonly sample: readonly Row[]
  readonly pageSize: number
}

const shapes = new WeakMap<readonly Row[], Shape>()

/** The same object for the same rows, so that the grid is not laid out again. */
function shapeOf(list: string | undefined, sample: readonly Row[]): Shape {
  const there = shapes.get(sample)
  if (there) return there
  const length =
    sample.reduce((sum, { values }) => sum + JSON.stringify(values).length, 1) / Math.max(sample.length, 1)
  const pageSize = Math.max(4, Math.min(MOST_ROWS, Math.floor(PAGE_LENGTH / length)))
  const shape = { columns: columnsOf(list, sample), sample, pageSize }
  shapes.set(sample, shape)
  return shape
}

/**
 * Rows by their index, loaded page by page around the visible ones; those of a draft as it has them. `base` is undefined for a draft of a testset
 * without a version.
 */
export function useGridRows(
  base: string | undefined,
  known: ReadonlySet<string>,
  pageSize: number,
  draft: RowsDraft,
) {
  const [{ first, end }, setSeen] = useState({ first: 0, end: 0 })
  const onSeen = useSeldom(useCallback((from: number, to: number) => setSeen({ first: from, end: to }), []))
  const ahead = Math.floor(pageSize / 2)
  const pages = pagesOf(piecesBetween(draft, Math.max(0, first - ahead), end + ahead), pageSize)
  const { answers, error, refetch } = useParts(
    'POST /testsets/revisions/retrieve',
    base === undefined ? [] : pages.map((page) => askRows(base, page * pageSize, pageSize)),
  )
  const merged = useRef(new Map<RowId, MergedRow>())
  const baseAt = (id: RowId): Row | undefined => {
    const answer = answers[pages.indexOf(Math.floor(id / pageSize))]
    return answer && rowsIn(answer)[id % pageSize]
  }
  const rowAt = (index: number): Row | undefined => {
    const id = rowIdAt(draft, index)
    if (id === undefined) return undefined
    const row = id < 0 ? NO_ROW : baseAt(id)
    const cells = draft.cells.get(id)
    if (!row || (id >= 0 && !cells && !isAnyRenamed(draft.columns))) return row
    // The same object while nothing changes, so that only edited rows are drawn again.
    const before = merged.current.get(id)
    if (before && before.of === row && before.cells === cells && before.columns === draft.columns)
      return before.row
    const made = rowWith(draft, id, row, known)
    if (merged.current.size > MOST_MERGED) merged.current.clear()
    merged.current.set(id, { of: row, cells, columns: draft.columns, row: made })
    return made
  }
  return { rowAt, baseAt, onSeen, error, refetch }
}

interface MergedRow {
  readonly of: Row
  readonly cells: Cells | undefined
  readonly columns: RowsDraft['columns']
  readonly row: Row
}

const MOST_MERGED = 5000

const renamed = new WeakMap<RowsDraft['columns'], boolean>()

/** Whether a column has another name than in the base. */
function isAnyRenamed(columns: RowsDraft['columns']): boolean {
  const known = renamed.get(columns) ?? columns.some(({ key, name }) => key !== name)
  renamed.set(columns, known)
  return known
}

const NO_ROW: Row = { id: '', key: '', values: {} }

/** A row of the base with what a draft changes in it, or a row that the draft adds. */
function rowWith(draft: RowsDraft, id: RowId, row: Row, known: ReadonlySet<string>): Row {
  const cells = draft.cells.get(id)
  const values = valuesOf(draft, id, row.values, known)
  if (id < 0) return { ...row, key: addedKey(draft, id), values, isNew: true }
  const edited = draft.columns.flatMap(({ key, name }) => (cells?.has(key) ? [name] : []))
  return { ...row, values, edited: new Set(edited) }
}

/** The pages of a revision that have these rows, ascending. */
function pagesOf(pieces: readonly Piece[], pageSize: number): readonly number[] {
  const pages = new Set<number>()
  for (const { start, count } of pieces) {
    if (start < 0) continue
    for (let page = Math.floor(start / pageSize); page * pageSize < start + count; page++) pages.add(page)
  }
  return [...pages].sort((one, other) => one - other)
}

/** How many pages are asked for at once. */
const PAGES_AT_ONCE = 4

/** Reads rows of a revision by their offsets, page by page; those that the grid has loaded are not read again. */
export function useReadRows(base: string | undefined, pageSize: number) {
  const cache = useQueryClient()
  return async (offsets: readonly RowId[]): Promise<ReadonlyMap<RowId, Row>> => {
    const rows = new Map<RowId, Row>()
    if (base === undefined || offsets.length === 0) return rows
    const pages = pagesOf(
      offsets.map((start) => ({ start, count: 1 })),
      pageSize,
    )
    const wanted = new Set(offsets)
    for (let at = 0; at < pages.length; at += PAGES_AT_ONCE)
      await Promise.all(
        pages.slice(at, at + PAGES_AT_ONCE).map(async (page) => {
          const ask = askRows(base, page * pageSize, pageSize)
          const answer = await cache.fetchQuery({
            queryKey: ['POST /testsets/revisions/retrieve', ask],
            queryFn: () => call('POST /testsets/revisions/retrieve', ask),
            staleTime: Infinity,
            gcTime: 20_000,
          })
          for (const [step, row] of rowsIn(answer).entries()) {
            const offset = page * pageSize + step
            if (wanted.has(offset)) rows.set(offset, row)
          }
        }),
      )
    return rows
  }
}

function askRows(
  revisionId: string,
  offset: number,
  limit: number,
): Ask<'POST /testsets/revisions/retrieve'> {
  return {
    body: {
      testset_revision_ref: { id: revisionId },
      include_testcase_ids: false,
      windowing: { offset, limit, order: 'ascending' },
    },
  }
}

/** While the scroll bar is dragged, rows are requested at most this often, in milliseconds. */
const APART = 70

/** Calls at once, then at most every `APART` ms, the last time with the newest arguments. */
function useSeldom(run: (first: number, end: number) => void): (first: number, end: number) => void {
  const state = useRef<{
    waiting?: ReturnType<typeof setTimeout> | undefined
    newest?: readonly [number, number]
  }>({})
  useEffect(() => () => clearTimeout(state.current.waiting), [])
  return useCallback(
    (first, end) => {
      const it = state.current
      if (it.waiting !== undefined) {
        it.newest = [first, end]
        return
      }
      run(first, end)
      const next = (): void => {
        const { newest } = it
        delete it.newest
        it.waiting = newest && setTimeout(next, APART)
        if (newest) run(...newest)
      }
      it.waiting = setTimeout(next, APART)
    },
    [run],
  )
}

/** The column that identifies rows. */
export const KEY_COLUMN = 'testcase_dedup_id'

/** A row of a revision. */
export interface Row extends GridRow {
  /** The id of its content: an edit changes it. */
  readonly id: string
  readonly flags?: JsonObject | undefined
  readonly tags?: JsonObject | undefined
  readonly meta?: JsonObject | undefined
}

type RowsAnswer = Answer<'POST /testsets/revisions/retrieve'>

const known = new WeakMap<RowsAnswer, readonly Row[]>()

/** The rows of an answer; always the same array. */
function rowsIn(answer: RowsAnswer): readonly Row[] {
  const there = known.get(answer)
  if (there) return there
  const testcases = answer.testset_revision.data?.['testcases']
  const rows = Array.isArray(testcases) ? testcases.map((testcase) => rowOf(testcase as JsonObject)) : []
  known.set(answer, rows)
  return rows
}

function rowOf(testcase: JsonObject): Row {
  const { flags, tags, meta } = testcase
  const values = objectIn(testcase['data']) ?? {}
  const has = Object.entries({ flags, tags, meta }).flatMap(([name, value]) =>
    value === undefined ? [] : name,
  )
  return {
    id: String(testcase['id']),
    key: String(values[KEY_COLUMN] ?? ''),
    values,
    flags: objectIn(flags),
    tags: objectIn(tags),
    meta: objectIn(meta),
    note: has.length === 0 ? undefined : `Has ${has.join(' and ')}`,
  }
}

function objectIn(value: unknown): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

/** The columns of a revision, in order: those of its list, then others found in rows. */
function columnsOf(list: string | undefined, rows: readonly Row[]): readonly string[] {
  const listed = list === undefined ? [] : namesIn(list)
  const names = new Set([...listed, ...rows.flatMap(({ values }) => Object.keys(values))])
  names.delete(KEY_COLUMN)
  return [...names]
}

function namesIn(text: string): readonly string[] {
  const parsed: unknown = JSON.parse(text)
  return Array.isArray(parsed) ? parsed.map(String) : []
}

/** A testset as a flat record. */
export type Testset = Answer<'GET /simple/testsets/{id}'>['testset']

/** A revision of it, with or without rows. */
export type TestsetRevision = Answer<'POST /testsets/revisions/retrieve'>['testset_revision']
