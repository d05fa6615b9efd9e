import { quotedKey } from '../../json/json-values.ts'
import { getKey, isJsonObject, keysOf } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { Span, SpanException, SpanLink } from '../span.ts'
import { namedList } from './named-list.ts'
import { PLACE_OF_MEMBERS } from './reference-texts.ts'

/**
 * A span as one line of text, in the order of `LineParts` and between tabs, which JSON has none of; what is not there is nothing. Its times
 * go beside the lines, because a large number takes as long to write as all else. So do its references, which runs of a revision share:
 * in the attributes `PLACE_OF_MEMBERS` stands where they belong, and `references` is their place among those that are sent. Ends with a
 * line end, and is read by `readSpanLines`. Throws TypeError for attributes that JSON has no word for.
 */
export function spanLine(span: Span, references: number): string {
  const { traceId, spanId, parentId, statusMessage, sessionId, links, exception } = span
  return (
    `${traceId}\t${spanId}\t${parentId ?? ''}\t${span.traceType}\t${span.type}\t${span.kind}\t${quotedName(span.name)}\t` +
    `${span.statusCode}\t${quote(statusMessage)}\t${quote(sessionId)}\t${attributesText(span)}\t${references}\t` +
    `${links.size === 0 ? '' : namedList(links, linkText)}\t${exception ? exceptionText(exception) : ''}\n`
  )
}

/** The texts between the tabs. Names, messages and sessions are quoted as JSON quotes them. */
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
  attributes: string,
  references: string,
  links: string,
  exception: string,
]

/** What `withReferences` makes, as text: two objects less for every span. */
function attributesText({ attributes, references }: Span): string {
  let text = ''
  for (const name of keysOf(attributes)) {
    const value = getKey(attributes, name)
    text += `${text === '' ? '{' : ','}${quotedKey(name)}:${stringifyJson(value)}`
    // Behind the object that they are to be members of: cutting off its brace here would copy it once more.
    if (name === 'svc' && references.size > 0 && isJsonObject(value)) text += PLACE_OF_MEMBERS
  }
  return text === '' ? '{}' : `${text}}`
}

/** Spans that end one after the other are mostly of one name. */
function quotedName(name: string): string {
  if (name !== lastName) {
    lastName = name
    lastQuoted = JSON.stringify(name)
  }
  return lastQuoted
}

let lastName = ''
let lastQuoted = '""'

function quote(text: string | undefined): string {
  return text === undefined ? '' : JSON.stringify(text)
}

function linkText({ traceId, spanId }: SpanLink): string {
  return `"trace_id":${quote(traceId)},"span_id":${quote(spanId)},`
}

function exceptionText({ type, message, stacktrace }: SpanException): string {
  return stringifyJson({ type, message, stacktrace })
}
