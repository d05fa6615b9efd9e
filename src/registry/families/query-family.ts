import { getKey, isJsonObject, type Json, type JsonObject, numberOf } from '../../base/json.ts'
import {
  type AcceptedDocument,
  type DocumentDefinition,
  documentFamily,
  type PayloadFile,
} from '../payload/document-family.ts'
import type { PayloadContext } from '../payload/family.ts'
import { threadOf } from '../documents/document-thread.ts'
import { mergeDelta } from '../documents/deltas.ts'
import { decodeDocument, decodeJsonFile } from '../documents/stored-json.ts'
import { acceptDocument, type MemberReader, readClosedObject } from '../documents/closed-object.ts'
import { formatValueForPeople, type ProblemCollector } from '../documents/problems.ts'
import { isWithinBound, oneOfWords, readFiltering } from './query-filtering.ts'

/** The stored windowing of a query of traces (interface 13.4): every member as it was sent. */
function readWindowing(value: Json, problems: ProblemCollector): JsonObject {
  return readClosedObject(value, 'windowing', QUERY_WINDOWING_MEMBERS, problems)
}

const A_TIME = 'a time in RFC 3339, such as 2026-03-01T09:30:00Z'

const QUERY_WINDOWING_MEMBERS: ReadonlyMap<string, MemberReader> = new Map([
  ['newest', member('newest', A_TIME, isTime)],
  ['oldest', member('oldest', A_TIME, isTime)],
  ['next', member('next', 'an id, a string that is not empty', isName)],
  ['limit', member('limit', 'a whole number from 1 on', isCount)],
  ['order', oneOfWords('order', ['ascending', 'descending'])],
  ['interval', member('interval', 'a number above 0', isPositive)],
  ['rate', member('rate', 'a number from 0 to 1', isShare)],
])

function member(name: string, rule: string, isRight: (value: Json) => boolean): MemberReader {
  return (value, problems) => {
    if (!isRight(value))
      problems.add(`${name} must be ${rule}, but it is ${formatValueForPeople(value)}`, 'value_error')
    return value
  }
}

function isTime(value: Json): boolean {
  const time = /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/
  return typeof value === 'string' && time.test(value) && !Number.isNaN(Date.parse(value))
}

function isName(value: Json): boolean {
  return typeof value === 'string' && value !== ''
}

function isCount(value: Json): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1
}

function isPositive(value: Json): boolean {
  const number = numberOf(value) ?? 0
  return number > 0 && Number.isFinite(number)
}

function isShare(value: Json): boolean {
  const number = numberOf(value) ?? -1
  return number >= 0 && number <= 1
}

/**
 * Converts a client's `data` object for storing (interface 13.4): the filter of traces, without the traces it
 * once found. Throws one `invalid_request` with all problems at their places below `context.loc`, including
 * unknown keys at any level and a filtering past its bounds.
 */
export function acceptQueryData(data: Json, { loc }: PayloadContext): AcceptedDocument {
  return acceptDocument(data, loc, (value, problems) => {
    const filtering = isJsonObject(value) ? getKey(value, 'filtering') : undefined
    const isBounded = problems.below('filtering', () => isWithinBound(filtering ?? null, problems))
    return isBounded ? readQueryData(value, problems) : {}
  })
}

/** A stored query's data; data from before the bounds may exceed them. */
function readQueryData(data: Json, problems: ProblemCollector): JsonObject {
  return readClosedObject(data, 'data', MEMBERS, problems)
}

const FORMATTING: ReadonlyMap<string, MemberReader> = new Map([
  ['focus', oneOfWords('focus', ['trace', 'span'])],
  ['format', oneOfWords('format', ['svc', 'opentelemetry'])],
])

/** Members that a retrieve adds to the query, and that clients send back. */
const found: MemberReader = () => undefined

const MEMBERS: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['formatting', (value, problems) => readClosedObject(value, 'formatting', FORMATTING, problems)],
  ['filtering', readFiltering],
  ['windowing', readWindowing],
  ['trace_ids', found],
  ['traces', found],
])

/** The file of a query's data (interface 15.5). */
const QUERY_DATA_FILE = 'data.json'

/** Whether a path of a commit's tree is this file. */
export function isQueryFile(path: string): boolean {
  return path === QUERY_DATA_FILE
}

/** The file with a query's data (interface 15.5): `data.json`. */
export function encodeQuery(data: JsonObject): readonly PayloadFile[] {
  return [{ path: QUERY_DATA_FILE, content: data }]
}

/**
 * The data in a commit's tree, undefined if there is no `data.json`. Throws `damaged_repository`, naming the places, for data that REST
 * would not have accepted.
 */
export async function decodeQuery(
  read: (path: string) => Promise<Buffer | undefined>,
  maxValues?: number,
): Promise<JsonObject | undefined> {
  const bytes = await read(QUERY_DATA_FILE)
  if (bytes === undefined) return undefined
  const data = decodeJsonFile(QUERY_DATA_FILE, bytes, "a query's data", maxValues)
  return decodeDocument(QUERY_DATA_FILE, data, readQueryData)
}

/** A query's payload: its `data` object, and its file. */
export const queryDocument: DocumentDefinition = {
  name: 'query',
  folder: 'queries',
  roles: [],
  flagNames: [],
  ownsFile: isQueryFile,
  file: QUERY_DATA_FILE,
  encode: encodeQuery,
  decode: decodeQuery,
  thread: threadOf({ name: 'query' }),
  accept: acceptQueryData,
  applyDelta: applyQueryDelta,
  flags: () => ({}),
  present: (data) => data,
}

/** Queries: saved filters of traces (interface 13.4). */
export const queryFamily = documentFamily(queryDocument)

/**
 * Applies a delta `{set, remove}` to `base`, as for workflows; a null in `set` unsets its member, except
 * inside a condition's value. Throws `invalid_delta` for another shape, and `invalid_request` if the result
 * is invalid.
 */
export function applyQueryDelta(
  base: JsonObject | undefined,
  delta: Json,
  context: PayloadContext,
): AcceptedDocument {
  const result = mergeDelta(base, delta, context, { examplePath: 'windowing.limit' })
  return acceptQueryData(result, { ...context, loc: [...context.loc, 'set'] })
}
