import { entriesOf, fromEntries, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { ProblemCollector } from './problem-collector.ts'
import { UNKNOWN_KEY } from './problems-refusal.ts'
import { typeName } from './type-name.ts'
import { unknownKey } from './unknown-key.ts'

/** What to store of a member; undefined leaves it out. */
export type MemberReader = (value: Json, problems: ProblemCollector) => Json | undefined

/**
 * An object with a closed set of keys, each member as its reader would store it. Another key is a problem that names it;
 * a null is left out, whatever its key (interface 2.13). `name` is what the sentences call the object.
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
