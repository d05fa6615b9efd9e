import { hash } from 'node:crypto'
import { Refusal } from '../../../errors.ts'
import {
  type Json,
  type JsonObject,
  type PlainObject,
  entriesOf,
  ExactObject,
  fromEntries,
  getKey,
  isJsonObject,
  withoutKey,
  type CanonicalMembers,
  canonicalJson,
  canonicalMembers,
  MOST_LEVELS,
  parseJson,
} from '../../../base/json.ts'
import type { RowMeta } from '../import/input-row.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'

/** A row's content before it becomes a blob: as canonical JSON, with the hash that decides equality (interface 8.3). */
export interface EncodedContent {
  readonly members: CanonicalMembers
  /** The SHA-1, in hex, of the canonical content. */
  readonly hash: string
}

/** Encodes a row's content, without its dedup id. */
export function encodeContent(content: JsonObject): EncodedContent {
  const members = canonicalMembers(content)
  return { members, hash: hash('sha1', `{${members.texts.join()}}`, 'hex') }
}

/**
 * A row's blob (interface 15.5): the canonical JSON of its data, with the dedup id, and one newline. So its git id is a hash of the
 * content.
 */
export function encodeRow({ members: { keys, texts } }: EncodedContent, dedupId: string): Buffer {
  const place = keys.findIndex((key) => key > DEDUP_COLUMN)
  const dedup = `${DEDUP_NAME}:${canonicalJson(dedupId)}`
  return Buffer.from(`{${texts.toSpliced(place < 0 ? texts.length : place, 0, dedup).join()}}\n`)
}

const DEDUP_NAME = canonicalJson(DEDUP_COLUMN)

/** The generated dedup id of a row that came without one (interface 8.5), from its content hash. */
export function generatedDedupId(contentHashHex: string): string {
  return contentHashHex.slice(0, 12)
}

/** The data in a row's blob. Refuses with `damaged_repository` a blob that is not an object; `name` describes the row. */
export function decodeRow(bytes: Buffer, name = () => 'a row'): JsonObject {
  return decodeObject(bytes, name)
}

/** The object in the bytes of a blob, or why there is none: a sentence without its full stop that begins with `what`. */
export function objectIn(bytes: Buffer, what: () => string, maxValues = Infinity): JsonObject | string {
  let value
  try {
    value = parseJson(bytes.toString('utf8'), { maxDepth: MOST_LEVELS, maxValues })
  } catch (error) {
    return `${what()} is no JSON: ${error instanceof Error ? error.message : String(error)}`
  }
  return isJsonObject(value) ? value : `${what()} is JSON, but no object`
}

/** The dedup id of stored data; undefined for a row that came by git without one. */
export function dedupIdOf(data: JsonObject): string | undefined {
  const id = getKey(data, DEDUP_COLUMN)
  return typeof id === 'string' ? id : undefined
}

/** The data without its dedup id. */
export function contentOf(data: JsonObject): JsonObject {
  return withoutKey(data, DEDUP_COLUMN)
}

/** The blob of a row's flags, tags and meta. */
export function encodeRowMeta(meta: RowMeta): Buffer {
  return Buffer.from(`${canonicalJson(meta as JsonObject)}\n`) // a record of our own with JSON in it
}

/** The flags, tags and meta in such a blob; other members, which only git can bring, are dropped. */
export function decodeRowMeta(bytes: Buffer): RowMeta {
  const known = entriesOf(decodeObject(bytes, () => "a row's flags, tags and meta"))
  return Object.fromEntries(
    known.filter(([key, value]) => ['flags', 'tags', 'meta'].includes(key) && isJsonObject(value)),
  )
}

/** The data with its keys in the order of the columns (interface 8.7), then other keys; the dedup id is last unless it is a column. */
export function inColumnOrder(data: JsonObject, columns: readonly string[]): JsonObject {
  if (!(data instanceof ExactObject)) return plainInColumnOrder(data, columns)
  const members = new Map(entriesOf(data))
  const ordered = []
  for (const column of columnsAmong([...members.keys()], columns)) {
    const value = members.get(column)
    if (value === undefined) continue
    ordered.push([column, value] as const)
    members.delete(column)
  }
  const dedup = members.get(DEDUP_COLUMN)
  members.delete(DEDUP_COLUMN)
  const last = dedup === undefined ? [] : [[DEDUP_COLUMN, dedup] as const]
  return fromEntries([...ordered, ...members, ...last])
}

/** A version that is four times as fast, for keys that JavaScript keeps in order. */
function plainInColumnOrder(data: PlainObject, columns: readonly string[]): JsonObject {
  const ordered: Record<string, Json> = {}
  const keys = Object.keys(data)
  for (const column of columnsAmong(keys, columns)) {
    const value = Object.hasOwn(data, column) ? data[column] : undefined
    if (value !== undefined) ordered[column] = value
  }
  for (const key of keys) {
    if (key !== DEDUP_COLUMN && !Object.hasOwn(ordered, key)) ordered[key] = data[key] as Json // its own key
  }
  const dedup = data[DEDUP_COLUMN]
  if (dedup !== undefined && !Object.hasOwn(ordered, DEDUP_COLUMN)) ordered[DEDUP_COLUMN] = dedup
  return ordered
}

/**
 * The columns that these keys can be, in order. For rows with few of very many columns, looking up every column in each row would take a
 * hundred times as long as all other work.
 */
function columnsAmong(keys: readonly string[], columns: readonly string[]): readonly string[] {
  if (columns.length <= SPARSE * keys.length) return columns
  let places = placesOf.get(columns)
  if (!places) placesOf.set(columns, (places = new Map(columns.map((column, place) => [column, place]))))
  const known = places
  return keys.filter((key) => known.has(key)).sort((a, b) => (known.get(a) ?? 0) - (known.get(b) ?? 0))
}

const SPARSE = 8
const placesOf = new WeakMap<readonly string[], ReadonlyMap<string, number>>()

function decodeObject(bytes: Buffer, what: () => string): JsonObject {
  const object = objectIn(bytes, what)
  if (typeof object === 'string') throw damaged(object)
  return object
}

function damaged(problem: string): Refusal {
  return new Refusal('damaged_repository', `In a testset, ${problem}. Commit a repaired version with git.`)
}
