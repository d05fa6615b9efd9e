import type { Json } from '../json/json.ts'
import { JsonText, stringifyJson } from '../json/stringify-json.ts'
import { namedList } from './named-list.ts'
import { withReferences } from './references-json.ts'
import { LIST, MEMBERS } from './reference-texts.ts'
import type { Span, SpanLink } from './span.ts'
import { isoOf, microsecondsOf } from './span-time.ts'

/**
 * A span as one line of text: its columns between tabs in the order of `StoredSpan`, the last of them its record (contract/handlers 5.2)
 * as JSON, which has no control characters of its own. Where the record has the span's references, `MEMBERS` and `LIST` stand for them:
 * runs of a revision share theirs, which are most of a record. Ends with a line end; `readSpanLines` reads it. `now` is in milliseconds,
 * `references` the place of the span's among those that are sent beside the lines. Throws TypeError for attributes that JSON has no
 * word for.
 */
export function spanLine(span: Span, references: number, now: number): string {
  const { traceId, spanId, parentId, traceType, type, name, statusCode, sessionId } = span
  const startTime = microsecondsOf(span.startTime)
  return (
    `${traceId}\t${spanId}\t${parentId ?? ''}\t${traceType}\t${type}\t${quote(name)}\t${statusCode}\t` +
    `${sessionId === undefined ? '' : quote(sessionId)}\t${startTime}\t${references}\t${recordText(span, startTime, now)}\n`
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
  text += `,"attributes":${stringifyJson(withReferences(span, membersLater))}`
  if (references.size > 0) text += LIST_LATER
  if (links.size > 0) text += `,"links":${namedList(links, linkText)}`
  if (exception) {
    const { type, message, stacktrace } = exception
    const attributes = stringifyJson({ type, message, stacktrace })
    const event = `{"name":"exception","timestamp":"${isoOf(microsecondsOf(span.endTime))}","attributes":${attributes}}`
    text += `,"exception":${attributes},"events":[${event}]`
  }
  return `${text},"created_at":"${isoOf(microsecondsOf(now))}"}`
}

/** stringifyJson writes a ready text as it stands, wherever a value may be. */
const membersLater = (): Json => MEMBERS_LATER
const MEMBERS_LATER = new JsonText(MEMBERS) as unknown as Json
const LIST_LATER = `,"references":${LIST}`

const quote = (text: string): string => JSON.stringify(text)

function linkText({ traceId, spanId }: SpanLink): string {
  return `"trace_id":${quote(traceId)},"span_id":${quote(spanId)},`
}
