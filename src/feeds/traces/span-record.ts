import {
  fromEntries,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
  JsonText,
  stringifyJson,
} from '../../base/json.ts'
import type { Span, SpanException, SpanLink, SpanReference } from './span.ts'

/** A span as a row of the table `spans`. Times are texts of `isoOf`, which sort by time. */
export interface StoredSpan {
  readonly trace_id: string
  readonly span_id: string
  readonly parent_id: string | null
  readonly trace_type: string
  readonly span_type: string
  readonly span_kind: string
  readonly span_name: string
  readonly start_time: string
  readonly end_time: string
  readonly status_code: string
  readonly session_id: string | null
  /** The whole span as JSON (interface 12.9), in the form of answers. */
  readonly record: string
}

/** A span as it is read: its record as text, and its place in a trace. */
export type SpanRow = Pick<StoredSpan, 'trace_id' | 'span_id' | 'parent_id' | 'span_name' | 'record'>

/** Replaces U+0000 in columns, which cannot store or read it; the record has the original. */
export const STAND_IN = '\ufffd'

/** A row with its exact name. */
export function exactSpan<Row extends SpanRow>(row: Row): Row {
  if (!row.span_name.includes(STAND_IN)) return row
  const { span_name: name } = JSON.parse(row.record) as Pick<SpanRow, 'span_name'>
  return { ...row, span_name: name }
}

/** The row of a span recorded at `now` (milliseconds). Throws TypeError for attributes that JSON cannot express. */
export function storedSpan(span: Span, now: number): StoredSpan {
  const { traceId, spanId, parentId, traceType, type, kind, name, statusCode, statusMessage, sessionId } =
    span
  const startTime = timeText(span.startTime)
  const endTime = timeText(span.endTime)
  const exception = span.exception && exceptionJson(span.exception)
  const references = referenceTexts(span.references)
  const record = stringifyJson({
    trace_id: traceId,
    span_id: spanId,
    parent_id: parentId,
    trace_type: traceType,
    span_type: type,
    span_kind: kind,
    span_name: name,
    start_time: startTime,
    end_time: endTime,
    status_code: statusCode,
    status_message: statusMessage,
    session_id: sessionId,
    attributes: withReferences(span, () => references.members),
    references: references.list,
    links: namedList(span.links, linkJson),
    exception,
    events: exception && [{ name: 'exception', timestamp: endTime, attributes: exception }],
    created_at: timeText(now),
  })
  return {
    trace_id: traceId,
    span_id: spanId,
    parent_id: parentId ?? null,
    trace_type: traceType,
    span_type: type,
    span_kind: kind,
    span_name: name,
    start_time: startTime,
    end_time: endTime,
    status_code: statusCode,
    session_id: sessionId ?? null,
    record,
  }
}

function timeText(milliseconds: number): string {
  return isoOf(microsecondsOf(milliseconds))
}

function exceptionJson({ type, message, stacktrace }: SpanException): object {
  return { type, message, stacktrace }
}

function linkJson({ traceId, spanId }: SpanLink): object {
  return { trace_id: traceId, span_id: spanId }
}

/** Named values as a list for records (interface 12.9), each with its name in `attributes.key`; undefined if there are none. */
function namedList<T>(named: ReadonlyMap<string, T>, membersOf: (value: T) => object): object[] | undefined {
  if (named.size === 0) return undefined
  return [...named].map(([key, value]) => ({ ...membersOf(value), attributes: { key } }))
}

/** The references of a span in the two forms of its record, serialised. */
interface ReferenceTexts {
  readonly members: Json
  /** Undefined if there are none. */
  readonly list: Json | undefined
}

/** Cached with the map: all runs of a revision share it, and serialising it again would cost as much as all the rest. */
function referenceTexts(references: Span['references']): ReferenceTexts {
  const known = knownTexts.get(references)
  if (known) return known
  const list = namedList(references, referenceJson)
  const made = { members: ready(spanReferencesJson(references)), list: list && ready(list) }
  knownTexts.set(references, made)
  return made
}

const knownTexts = new WeakMap<Span['references'], ReferenceTexts>()

/** A value that `stringifyJson` writes as this value's current text. */
function ready(value: unknown): Json {
  return new JsonText(stringifyJson(value)) as unknown as Json
}

/** The attributes of a span, with its references under `svc.references`. */
export function withReferences(
  { attributes, references }: Span,
  json: (references: Span['references']) => Json = spanReferencesJson,
): JsonObject {
  const svc = getKey(attributes, 'svc')
  if (references.size === 0 || !isJsonObject(svc)) return attributes
  return withKey(attributes, 'svc', withKey(svc, 'references', json(references)))
}

/** References as attributes (interface 12.8): an object for each, under its name. */
export function spanReferencesJson(references: ReadonlyMap<string, SpanReference>): JsonObject {
  return fromEntries([...references].map(([name, reference]) => [name, referenceJson(reference)]))
}

/** A reference as an attribute. */
export function referenceJson({ id, slug, version }: SpanReference): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(slug === undefined ? {} : { slug }),
    ...(version === undefined ? {} : { version }),
  }
}

/** The microseconds since 1970 of a time in milliseconds with a fraction; exact in a double until the year 2255. */
export function microsecondsOf(milliseconds: number): number {
  return Math.round(milliseconds * 1000)
}

/** A time as records show it: RFC 3339 in UTC with six decimals. Such texts sort by time, until the year 9999. */
export function isoOf(time: number): string {
  const microseconds = Math.min(time, LAST_SECOND * 1e6)
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000
