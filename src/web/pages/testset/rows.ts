import type { JsonObject } from '#routes'
import type { Answer } from '../../api/call.ts'
import type { GridRow } from '../../parts/grid/grid-cells.tsx'

/** The column whose values name rows, whatever else changes of them. */
export const KEY_COLUMN = 'testcase_dedup_id'

/** A row of a revision. */
export interface Row extends GridRow {
  /** Of its content: it changes when that does. */
  readonly id: string
  readonly flags?: JsonObject | undefined
  readonly tags?: JsonObject | undefined
  readonly meta?: JsonObject | undefined
}

type RowsAnswer = Answer<'POST /testsets/revisions/retrieve'>

const known = new WeakMap<RowsAnswer, readonly Row[]>()

/** The rows that an answer holds; the same ones each time. */
export function rowsIn(answer: RowsAnswer): readonly Row[] {
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

/** The names of a revision's columns, in order: those of its list, then those that only the rows know. */
export function columnsOf(list: string | undefined, rows: readonly Row[]): readonly string[] {
  const listed = list === undefined ? [] : namesIn(list)
  const names = new Set([...listed, ...rows.flatMap(({ values }) => Object.keys(values))])
  names.delete(KEY_COLUMN)
  return [...names]
}

function namesIn(text: string): readonly string[] {
  const parsed: unknown = JSON.parse(text)
  return Array.isArray(parsed) ? parsed.map(String) : []
}
