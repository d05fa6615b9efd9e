import {
  type Json,
  type JsonObject,
  entriesOf,
  fromEntries,
  getKey,
  hasKey,
  isJsonObject,
} from '../../../base/json.ts'
import { parseUuid } from '../../store/ids.ts'

/** A received row, its metadata separated from its content (interface 8.5, 8.9). */
export interface InputRow {
  /** The row without dedup id and metadata columns, in the sender's order. */
  readonly content: JsonObject
  /** Its dedup id, if the sender gave one. */
  readonly dedupId: string | undefined
  /** The testcase id that the sender gave for this row. */
  readonly isTestcase: string | undefined
  readonly meta: RowMeta | undefined
  /** Whether the dedup id was a column of the row, and so is among the columns. */
  readonly hasDedupColumn: boolean
}

/** A row's metadata in a revision, beside its data (interface 8.7). */
export interface RowMeta {
  readonly flags?: JsonObject
  readonly tags?: JsonObject
  readonly meta?: JsonObject
}

/** The member of a stored row with its dedup id; every stored row has it. */
export const DEDUP_COLUMN = 'testcase_dedup_id'

/** Maximum values of a row at any depth, with metadata: each row is read and written without yielding. */
export const MOST_ROW_VALUES = 100_000

/** The columns of imports and exports that are not data. */
export const METADATA_COLUMNS = ['__id__', '__dedup_id__', '__flags__', '__tags__', '__meta__'] as const

/**
 * Separates a row's data. `outer` are flags, tags and meta from beside it. `refuse` is called with the key and its problem, and does not
 * return.
 */
export function inputRow(
  data: JsonObject,
  outer: JsonObject,
  refuse: (key: string, problem: string) => never,
): InputRow {
  const meta = metaOf(data, outer, refuse)
  if (!SPECIAL.some((key) => hasKey(data, key))) {
    return { content: data, dedupId: undefined, isTestcase: undefined, meta, hasDedupColumn: false }
  }
  const own = dedupIdIn(data, DEDUP_COLUMN, refuse)
  const column = dedupIdIn(data, '__dedup_id__', refuse)
  if (own !== undefined && column !== undefined && own !== column) {
    refuse('__dedup_id__', `says "${column}", but ${DEDUP_COLUMN} says "${own}". Send one of them`)
  }
  const id = getKey(data, '__id__')
  return {
    content: fromEntries(entriesOf(data).filter(([key]) => !SPECIAL.includes(key))),
    dedupId: own ?? column,
    isTestcase: typeof id === 'string' ? parseUuid(id) : undefined,
    meta,
    hasDedupColumn: hasKey(data, DEDUP_COLUMN),
  }
}

const SPECIAL: readonly string[] = [DEDUP_COLUMN, ...METADATA_COLUMNS]

function dedupIdIn(
  data: JsonObject,
  key: string,
  refuse: (key: string, problem: string) => never,
): string | undefined {
  const value = getKey(data, key)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') return refuse(key, 'is not a string; a dedup id is one')
  // A copy, because a slice would keep the whole large text in memory.
  return Buffer.from(value).toString()
}

const META_FIELDS = ['flags', 'tags', 'meta'] as const

function metaOf(
  data: JsonObject,
  outer: JsonObject,
  refuse: (key: string, problem: string) => never,
): RowMeta | undefined {
  let meta: RowMeta | undefined
  for (const field of META_FIELDS) {
    const column = `__${field}__`
    const [beside, inside] = [getKey(outer, field) ?? null, getKey(data, column) ?? null]
    if (beside !== null && inside !== null)
      refuse(column, `is there, and ${field} beside the data too. Send one of them`)
    const value: Json = beside ?? inside
    if (value === null) continue
    if (!isJsonObject(value)) return refuse(beside === null ? column : field, 'is not an object')
    if (entriesOf(value).length > 0) meta = { ...meta, [field]: value }
  }
  return meta
}
