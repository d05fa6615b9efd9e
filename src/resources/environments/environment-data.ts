import { isLight } from '../../json/is-light.ts'
import { getKey, isJsonObject, withoutKey, type Json, type JsonObject } from '../../json/json.ts'
import type { AcceptedDocument } from '../../versioning/family/document-family.ts'
import type { PayloadContext } from '../../versioning/family/family.ts'
import { acceptDocument } from '../documents/accept-document.ts'
import { readClosedObject } from '../documents/closed-object.ts'
import { ProblemCollector } from '../documents/problem-collector.ts'
import { acceptReferences, acceptReferencesInTurns } from './references-map.ts'

/**
 * A `data` object as a client sent it, made ready to store (interface 9.9): `references` is its only key, and
 * no references are an empty map. Refuses with one `invalid_request` that lists every problem at its place below
 * `context.loc`.
 */
export function acceptEnvironmentData(data: Json, { loc }: PayloadContext): AcceptedDocument {
  return acceptDocument(data, loc, readData)
}

/** The same, group by group where there are many, so that others have their turn. */
export async function acceptEnvironmentInTurns(
  data: Json,
  context: Pick<PayloadContext, 'loc' | 'servicesBase'>,
): Promise<AcceptedDocument> {
  const sent = isJsonObject(data) ? getKey(data, 'references') : undefined
  if (!isJsonObject(data) || !isJsonObject(sent) || isLight(sent)) return acceptEnvironmentData(data, context)
  // What else it holds is refused.
  acceptEnvironmentData(withoutKey(data, 'references'), context)
  const problems = new ProblemCollector([...context.loc, 'references'])
  const references = await acceptReferencesInTurns(sent, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return { data: { references }, warnings: [] }
}

function readData(data: Json, problems: ProblemCollector): JsonObject {
  const read = readClosedObject(data, 'data', new Map([['references', acceptReferences]]), problems)
  return { references: getKey(read, 'references') ?? {} }
}
