import { getKey, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { acceptDocument } from '../documents/accept-document.ts'
import { readClosedObject, type MemberReader } from '../documents/closed-object.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'
import { isWithinBound } from './filtering-bound.ts'
import { oneOfWords } from './one-of.ts'
import { readFiltering } from './query-filtering.ts'
import { readWindowing } from './query-windowing.ts'

/**
 * A `data` object as a client sent it, made ready to store (interface 13.4): what a filter of traces asks for, and not
 * the traces that it once found. Refuses with one `invalid_request` that lists every problem at its place below
 * `context.loc`; an unknown key, at any level, is one of them, and so is a filtering past its bounds.
 */
export function acceptQueryData(data: Json, { loc }: PayloadContext): AcceptedDocument {
  return acceptDocument(data, loc, (value, problems) => {
    const filtering = isJsonObject(value) ? getKey(value, 'filtering') : undefined
    const isBounded = problems.below('filtering', () => isWithinBound(filtering ?? null, problems))
    return isBounded ? readQueryData(value, problems) : {}
  })
}

/** A query's data as it is stored; one from before there were bounds may be past them. */
export function readQueryData(data: Json, problems: ProblemCollector): JsonObject {
  return readClosedObject(data, 'data', MEMBERS, problems)
}

const FORMATTING: ReadonlyMap<string, MemberReader> = new Map([
  ['focus', oneOfWords('focus', ['trace', 'span'])],
  ['format', oneOfWords('format', ['svc', 'opentelemetry'])],
])

/** What a retrieve may have answered beside the query, and a client sends back. */
const found: MemberReader = () => undefined

const MEMBERS: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['formatting', (value, problems) => readClosedObject(value, 'formatting', FORMATTING, problems)],
  ['filtering', readFiltering],
  ['windowing', readWindowing],
  ['trace_ids', found],
  ['traces', found],
])
