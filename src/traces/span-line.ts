import { entriesOf, isJsonObject } from '../json/json.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import { namedList } from './named-list.ts'
import { MEMBERS } from './reference-texts.ts'
import type { Span, SpanException, SpanLink } from './span.ts'
import { microsecondsOf } from './span-time.ts'

/**
 * A span as one line of text, in the order of `LineParts` and between tabs, which JSON has none of; what is not there is nothing. In the
 * attributes `MEMBERS` stands for the references: runs of a revision share theirs, which are most of a record. Ends with a line end, and
 * is read by `readSpanLines`. `references` is the place of the span's among those that are sent beside the lines, `now` is in
 * milliseconds. Throws TypeError for attributes that JSON has no word for.
 */
export function spanLine(span: Span, references: number, now: number): string {
  const { traceId, spanId, parentId, statusMessage, sessionId, links, exception } = span
  return (
    `${traceId}\t${spanId}\t${parentId ?? ''}\t${span.traceType}\t${span.type}\t${span.kind}\t${quote(span.name)}\t` +
    `${span.statusCode}\t${quote(statusMessage)}\t${quote(sessionId)}\t${microsecondsOf(span.startTime)}\t` +
    `${microsecondsOf(span.endTime)}\t${microsecondsOf(now)}\t${attributesText(span)}\t${references}\t` +
    `${links.size === 0 ? '' : namedList(links, linkText)}\t${exception ? exceptionText(exception) : ''}\n`
  )
}

/** The texts between the tabs. Times are microseconds; names, messages and sessions are quoted as JSON quotes them. */
export type LineParts = [
  traceId: string,
  spanId: string,
  parentId: string,
  traceType: string,
  type: string,
  kind: string,
  name: string,
  statusCode: string,
  statusMessage: string,
  sessionId: string,
  startTime: string,
  endTime: string,
  createdAt: string,
  attributes: string,
  references: string,
  links: string,
  exception: string,
]

/** What `withReferences` makes, as text: two objects less for every span. */
function attributesText({ attributes, references }: Span): string {
  let text = ''
  for (const [name, value] of entriesOf(attributes)) {
    const written = stringifyJson(value)
    const isTheirs = name === 'svc' && references.size > 0 && isJsonObject(value)
    text += `${text === '' ? '{' : ','}${quote(name)}:${isTheirs ? withMembers(written) : written}`
  }
  return text === '' ? '{}' : `${text}}`
}

function withMembers(written: string): string {
  return `${written.slice(0, -1)}${written === '{}' ? '' : ','}"references":${MEMBERS}}`
}

function quote(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(text)
}

function linkText({ traceId, spanId }: SpanLink): string {
  return `"trace_id":${quote(traceId)},"span_id":${quote(spanId)},`
}

function exceptionText({ type, message, stacktrace }: SpanException): string {
  return stringifyJson({ type, message, stacktrace })
}
