import { entriesOf, fromEntries, isJsonObject, type Json, type JsonObject } from '../../base/json.ts'
import { ProblemCollector, typeName, UNKNOWN_KEY, unknownKey } from './problems.ts'
import type { AcceptedDocument } from '../payload/document-family.ts'

/** Converts a value to the form that a family stores; adds what prevents storing to the problems. */
export type DocumentReader = (value: Json, problems: ProblemCollector) => JsonObject

/** Converts a client's value with `read`; refuses with every problem at its place below `loc`. */
export function acceptDocument(
  value: Json,
  loc: readonly (string | number)[],
  read: DocumentReader,
): AcceptedDocument {
  const problems = new ProblemCollector(loc)
  const data = read(value, problems)
  const refusal = problems.refusal('invalid_request')
  if (refusal) throw refusal
  return { data, warnings: [] }
}

/** The stored form of a member; undefined leaves it out. */
export type MemberReader = (value: Json, problems: ProblemCollector) => Json | undefined

/**
 * An object with a closed set of keys, each member converted by its reader. Any other key is a problem that names it; a null is left out
 * under any key (interface 2.13). `name` is the object's name in sentences.
 */
export function readClosedObject(
  value: Json,
  name: string,
  readers: ReadonlyMap<string, MemberReader>,
  problems: ProblemCollector,
): JsonObject {
  if (!isJsonObject(value)) {
    problems.add(`${name} must be an object, but it is ${typeName(value)}`, 'object_type')
    return {}
  }
  const members: [string, Json][] = []
  for (const [key, member] of entriesOf(value)) {
    if (member === null) continue
    const read = readers.get(key) ?? refusedKey(key, name, readers)
    const kept = problems.below(key, () => read(member, problems))
    if (kept !== undefined) members.push([key, kept])
  }
  return fromEntries(members)
}

function refusedKey(key: string, name: string, readers: ReadonlyMap<string, MemberReader>): MemberReader {
  return (_value, problems) => {
    problems.add(() => unknownKey(key, name, [...readers.keys()]), UNKNOWN_KEY)
    return undefined
  }
}
