import { getKey, type Json, type JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { acceptDocument } from '../documents/accept-document.ts'
import { readClosedObject } from '../documents/closed-object.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'
import { acceptReferences } from './references-map.ts'

/**
 * A `data` object as a client sent it, made ready to store (contract/environments 1): `references` is its only key, and
 * no references are an empty map. Refuses with one `invalid_request` that lists every problem at its place below
 * `context.loc`.
 */
export function acceptEnvironmentData(data: Json, { loc }: PayloadContext): AcceptedDocument {
  return acceptDocument(data, loc, readData)
}

function readData(data: Json, problems: ProblemCollector): JsonObject {
  const read = readClosedObject(data, 'data', new Map([['references', acceptReferences]]), problems)
  return { references: getKey(read, 'references') ?? {} }
}
