import type { Json } from '../../json/json.ts'
import { JsonText, stringifyJson } from '../../json/stringify-json.ts'
import { referenceJson, spanReferencesJson, withReferences } from '../references-json.ts'
import { isoOf, microsecondsOf } from '../span-time.ts'
import type { Span, SpanException, SpanLink } from '../span.ts'

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
