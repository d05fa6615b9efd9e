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

/** A span as a row of the table `spans`. Times are texts as `isoOf` writes them, which have the order of time. */
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
  /** All of the span as JSON (interface 12.9), as it is answered. */
  readonly record: string
}

/** A span as it is read: its record as text, and what puts it in its place in a trace. */
export type SpanRow = Pick<StoredSpan, 'trace_id' | 'span_id' | 'parent_id' | 'span_name' | 'record'>

/** What stands for U+0000 in a column of text where that cannot be kept, or read: the record spells it out. */
export const STAND_IN = '\ufffd'

/** A row with its name to the letter. */
export function exactSpan<Row extends SpanRow>(row: Row): Row {
  if (!row.span_name.includes(STAND_IN)) return row
  const { span_name: name } = JSON.parse(row.record) as Pick<SpanRow, 'span_name'>
  return { ...row, span_name: name }
}

/** The row of a span that is recorded now, in milliseconds. Throws TypeError for attributes that JSON has no word for. */
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

/** Named things as records list them (interface 12.9): each with its name in `attributes.key`; undefined where there are none. */
function namedList<T>(named: ReadonlyMap<string, T>, membersOf: (value: T) => object): object[] | undefined {
  if (named.size === 0) return undefined
  return [...named].map(([key, value]) => ({ ...membersOf(value), attributes: { key } }))
}

/** The references of a span as its record has them twice, ready to be written. */
interface ReferenceTexts {
  readonly members: Json
  /** Undefined where there are none. */
  readonly list: Json | undefined
}

/** Kept with the map: all runs of a revision have the same one, and to write it again would cost as much as all else. */
function referenceTexts(references: Span['references']): ReferenceTexts {
  const known = knownTexts.get(references)
  if (known) return known
  const list = namedList(references, referenceJson)
  const made = { members: ready(spanReferencesJson(references)), list: list && ready(list) }
  knownTexts.set(references, made)
  return made
}

const knownTexts = new WeakMap<Span['references'], ReferenceTexts>()

/** A value that `stringifyJson` writes as the text that it has been written as now. */
function ready(value: unknown): Json {
  return new JsonText(stringifyJson(value)) as unknown as Json
}

/** The attributes of a span with its references in their place, `svc.references`. */
export function withReferences(
  { attributes, references }: Span,
  json: (references: Span['references']) => Json = spanReferencesJson,
): JsonObject {
  const svc = getKey(attributes, 'svc')
  if (references.size === 0 || !isJsonObject(svc)) return attributes
  return withKey(attributes, 'svc', withKey(svc, 'references', json(references)))
}

/** References as attributes have them (interface 12.8): an object each, under its name. */
export function spanReferencesJson(references: ReadonlyMap<string, SpanReference>): JsonObject {
  return fromEntries([...references].map(([name, reference]) => [name, referenceJson(reference)]))
}

/** A reference as attributes have it. */
export function referenceJson({ id, slug, version }: SpanReference): JsonObject {
  return {
    ...(id === undefined ? {} : { id }),
    ...(slug === undefined ? {} : { slug }),
    ...(version === undefined ? {} : { version }),
  }
}

/** The microseconds since 1970 of a time in milliseconds with a fraction: exact in a double until the year 2255. */
export function microsecondsOf(milliseconds: number): number {
  return Math.round(milliseconds * 1000)
}

/** As records show it: RFC 3339 in UTC with six decimals. Such texts have the order of time, which ends with the year 9999. */
export function isoOf(time: number): string {
  const microseconds = Math.min(time, LAST_SECOND * 1e6)
  const milliseconds = Math.floor(microseconds / 1000)
  const rest = String(microseconds - milliseconds * 1000).padStart(3, '0')
  return `${new Date(milliseconds).toISOString().slice(0, -1)}${rest}Z`
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000
