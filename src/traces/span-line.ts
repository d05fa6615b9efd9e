import type { Json } from '../json/json.ts'
import { JsonText, stringifyJson } from '../json/stringify-json.ts'
import { referencesText, withReferences } from './references-json.ts'
import type { Span, SpanLink, SpanReference } from './span.ts'
import { isoOf, microsecondsOf } from './span-time.ts'

/**
 * A span as one line of text: its columns between tabs in the order of `StoredSpan`, the last its record (contract/handlers 5.2) as the
 * JSON that is stored and answered, made once and for all. JSON has neither tabs nor line ends of its own, so `readSpanLines` finds
 * them again. Ends with a line end. `now` is in milliseconds. Throws TypeError for attributes that JSON has no word for.
 */
export function spanLine(span: Span, now: number): string {
  const { traceId, spanId, parentId, traceType, type, name, statusCode, sessionId } = span
  const startTime = microsecondsOf(span.startTime)
  return (
    `${traceId}\t${spanId}\t${parentId ?? ''}\t${traceType}\t${type}\t${quote(name)}\t${statusCode}\t` +
    `${sessionId === undefined ? '' : quote(sessionId)}\t${startTime}\t${recordText(span, startTime, now)}\n`
  )
}

/** Put together by hand: three times as quick as writing an object of it, and every invocation pays for it. */
function recordText(span: Span, startTime: number, now: number): string {
  const { traceId, spanId, parentId, statusMessage, sessionId, references, links, exception } = span
  let text = `{"trace_id":"${traceId}","span_id":"${spanId}"`
  if (parentId !== undefined) text += `,"parent_id":"${parentId}"`
  text += `,"trace_type":"${span.traceType}","span_type":"${span.type}","span_kind":"${span.kind}"`
  text += `,"span_name":${quote(span.name)},"start_time":"${isoOf(startTime)}"`
  text += `,"end_time":"${isoOf(microsecondsOf(span.endTime))}","status_code":"${span.statusCode}"`
  if (statusMessage !== undefined) text += `,"status_message":${quote(statusMessage)}`
  if (sessionId !== undefined) text += `,"session_id":${quote(sessionId)}`
  text += `,"attributes":${stringifyJson(withReferences(span, readyReferences))}`
  if (references.size > 0) text += `,"references":${referenceList(references)}`
  if (links.size > 0) text += `,"links":${listText(links, linkText)}`
  if (exception) {
    const { type, message, stacktrace } = exception
    const attributes = stringifyJson({ type, message, stacktrace })
    const event = `{"name":"exception","timestamp":"${isoOf(microsecondsOf(span.endTime))}","attributes":${attributes}}`
    text += `,"exception":${attributes},"events":[${event}]`
  }
  return `${text},"created_at":"${isoOf(microsecondsOf(now))}"}`
}

/** stringifyJson writes a ready text as it stands, wherever a value may be. */
const readyReferences = (references: Span['references']): Json =>
  new JsonText(referencesText(references)) as unknown as Json

/** The references as records list them, once for all runs that share them. */
function referenceList(references: ReadonlyMap<string, SpanReference>): string {
  const known = referenceLists.get(references)
  if (known !== undefined) return known
  const text = listText(references, referenceText)
  referenceLists.set(references, text)
  return text
}

const referenceLists = new WeakMap<ReadonlyMap<string, SpanReference>, string>()

const quote = (text: string): string => JSON.stringify(text)

/** Named things as records list them, the name in `attributes.key`. */
function listText<T>(named: ReadonlyMap<string, T>, membersOf: (value: T) => string): string {
  let text = ''
  for (const [key, value] of named)
    text += `${text === '' ? '[' : ','}{${membersOf(value)}"attributes":{"key":${quote(key)}}}`
  return `${text}]`
}

function referenceText({ id, slug, version }: SpanReference): string {
  return (
    (id === undefined ? '' : `"id":${quote(id)},`) +
    (slug === undefined ? '' : `"slug":${quote(slug)},`) +
    (version === undefined ? '' : `"version":${quote(version)},`)
  )
}

function linkText({ traceId, spanId }: SpanLink): string {
  return `"trace_id":${quote(traceId)},"span_id":${quote(spanId)},`
}
