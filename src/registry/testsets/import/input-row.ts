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

/** A row as it comes in, its metadata taken apart from its content (interface 8.5, 8.9). */
export interface InputRow {
  /** The row without dedup id and metadata columns, in the sender's order. */
  readonly content: JsonObject
  /** Its dedup id, if the sender gave one. */
  readonly dedupId: string | undefined
  /** The id of the testcase that the sender says this row is. */
  readonly isTestcase: string | undefined
  readonly meta: RowMeta | undefined
  /** Whether the dedup id stood in the row as a column of its own, and so has a place among the columns. */
  readonly hasDedupColumn: boolean
}

/** What belongs to a row in a revision, beside its data (interface 8.7). */
export interface RowMeta {
  readonly flags?: JsonObject
  readonly tags?: JsonObject
  readonly meta?: JsonObject
}

/** The member of a stored row that holds its dedup id; there always. */
export const DEDUP_COLUMN = 'testcase_dedup_id'

/** So many values a row may have at any depth, metadata included: each row is read and written in one go. */
export const MOST_ROW_VALUES = 100_000

/** The columns of imports and exports that are no data. */
export const METADATA_COLUMNS = ['__id__', '__dedup_id__', '__flags__', '__tags__', '__meta__'] as const

/**
 * Takes a row's data apart. `outer` are flags, tags and meta that came beside it. `refuse` is called with the key and what is
 * wrong with it, and does not return.
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
  // A copy: a slice of a large text would keep that whole text in memory.
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
