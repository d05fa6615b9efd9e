import { PLACE_OF_MEMBERS, type ReferenceTexts } from '../recording/reference-texts.ts'
import type { LineParts } from '../recording/span-line.ts'
import { isoOf } from '../span-time.ts'

/** When a span began and ended and when it was recorded, in microseconds since 1970. */
export interface SpanTimes {
  readonly start: number
  readonly end: number
  readonly created: number
}

/**
 * The record of a span (contract/handlers 5.2), put together of texts once and for all, so that neither storing nor answering it reads it
 * again.
 */
export function spanRecord(
  parts: LineParts,
  times: SpanTimes,
  references: ReferenceTexts | undefined,
): string {
  const [traceId, spanId, parentId, traceType, type, kind, name, statusCode, statusMessage, ...rest] = parts
  const [sessionId, attributes, , links, exception] = rest
  const end = isoOf(times.end)
  let text = `{"trace_id":"${traceId}","span_id":"${spanId}"`
  if (parentId !== '') text += `,"parent_id":"${parentId}"`
  text += `,"trace_type":"${traceType}","span_type":"${type}","span_kind":"${kind}","span_name":${name}`
  text += `,"start_time":"${isoOf(times.start)}","end_time":"${end}","status_code":"${statusCode}"`
  if (statusMessage !== '') text += `,"status_message":${statusMessage}`
  if (sessionId !== '') text += `,"session_id":${sessionId}`
  text += `,"attributes":${references ? withMembers(attributes, references.members) : attributes}`
  if (references && references.list !== '') text += `,"references":${references.list}`
  if (links !== '') text += `,"links":${links}`
  if (exception !== '') {
    const event = `{"name":"exception","timestamp":"${end}","attributes":${exception}}`
    text += `,"exception":${exception},"events":[${event}]`
  }
  return `${text},"created_at":"${isoOf(times.created)}"}`
}

/** The attributes with the references as the last member of the object behind which their place is marked. */
function withMembers(attributes: string, members: string): string {
  const place = attributes.indexOf(PLACE_OF_MEMBERS)
  if (place < 0) return attributes
  const before = attributes.slice(0, place - '}'.length)
  return `${before}${before.endsWith('{') ? '' : ','}"references":${members}}${attributes.slice(place + 1)}`
}
