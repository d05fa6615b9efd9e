import type { JsonObject } from '#routes'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Ask, Problem, type Answer } from '../../api/call.ts'
import { useParts, useRoute } from '../../api/use-route.ts'
import type { GridRow } from '../../parts/grid/grid.tsx'

const ROWS_READ_FIRST = 8
const MOST_ROWS = 128
/** The approximate number of characters per request. */
const PAGE_LENGTH = 600_000

/** The columns of a revision, its first rows, and the size of a page: smaller for long rows. */
export function useShape(revisionId: string) {
  // The grid stays while another revision loads.
  const options = { immutable: true, keepPrevious: true }
  const first = useRoute(
    'POST /testsets/revisions/retrieve',
    askRows(revisionId, 0, ROWS_READ_FIRST),
    options,
  )
  const list = useRoute(
    'GET /testsets/revisions/{id}/files/{path}',
    { path: { id: revisionId, path: 'columns.json' } },
    options,
  )
  const hasNoList = list.error instanceof Problem && list.error.status === 404
  const error = first.error ?? (hasNoList ? null : list.error)
  const refetch = first.error ? first.refetch : list.refetch
  if (!first.data || (list.data === undefined && !hasNoList)) return { shape: undefined, error, refetch }
  const sample = rowsIn(first.data)
  return { shape: shapeOf(list.data, sample), error: null, refetch }
}

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

/** Rows by their index, loaded page by page around the visible ones. */
export function useGridRows(revisionId: string, total: number, pageSize: number) {
  const [{ first, end }, setSeen] = useState({ first: 0, end: 0 })
  const onSeen = useSeldom(useCallback((from: number, to: number) => setSeen({ first: from, end: to }), []))
  const ahead = Math.floor(pageSize / 2)
  const from = Math.floor(Math.max(0, first - ahead) / pageSize)
  const to = Math.ceil(Math.min(total, end + ahead) / pageSize)
  const pages = Array.from({ length: Math.max(0, to - from) }, (_, step) => from + step)
  const { answers, error, refetch } = useParts(
    'POST /testsets/revisions/retrieve',
    pages.map((page) => askRows(revisionId, page * pageSize, pageSize)),
  )
  const rowAt = (index: number): Row | undefined => {
    const answer = answers[Math.floor(index / pageSize) - from]
    return answer && rowsIn(answer)[index % pageSize]
  }
  return { rowAt, onSeen, error, refetch }
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
