import { MEMBERS, type ReferenceTexts } from '../reference-texts.ts'
import type { LineParts } from '../span-line.ts'
import { isoOf } from '../span-time.ts'

/**
 * The record of a span (contract/handlers 5.2), put together of texts once and for all, so that neither storing nor answering it reads it
 * again.
 */
export function spanRecord(parts: LineParts, references: ReferenceTexts | undefined): string {
  const [traceId, spanId, parentId, traceType, type, kind, name, statusCode, statusMessage, ...rest] = parts
  const [sessionId, startTime, endTime, createdAt, attributes, , links, exception] = rest
  const end = isoOf(Number(endTime))
  let text = `{"trace_id":"${traceId}","span_id":"${spanId}"`
  if (parentId !== '') text += `,"parent_id":"${parentId}"`
  text += `,"trace_type":"${traceType}","span_type":"${type}","span_kind":"${kind}","span_name":${name}`
  text += `,"start_time":"${isoOf(Number(startTime))}","end_time":"${end}","status_code":"${statusCode}"`
  if (statusMessage !== '') text += `,"status_message":${statusMessage}`
  if (sessionId !== '') text += `,"session_id":${sessionId}`
  // a function, because a text to put in has words of its own for `replace`
  text += `,"attributes":${references ? attributes.replace(MEMBERS, () => references.members) : attributes}`
  if (references && references.list !== '') text += `,"references":${references.list}`
  if (links !== '') text += `,"links":${links}`
  if (exception !== '') {
    const event = `{"name":"exception","timestamp":"${end}","attributes":${exception}}`
    text += `,"exception":${exception},"events":[${event}]`
  }
  return `${text},"created_at":"${isoOf(Number(createdAt))}"}`
}
