import { entriesOf, fromEntries, isJsonObject, keysOf, type Json, type JsonObject } from '../../json/json.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { parseUuid } from '../../versioning/ids.ts'
import { slugProblem } from '../../versioning/slugs/slug.ts'
import { readClosedObject, type MemberReader } from '../documents/closed-object.ts'
import type { ProblemCollector } from '../documents/problem-collector.ts'
import { formatValueForPeople } from '../documents/shown-value.ts'
import { typeName } from '../documents/type-name.ts'

/**
 * A map of pins as it is stored (interface 9.9): under any key a group, in it under any name a reference
 * `{id?, slug?, version?}`. Ids are in lower case, versions are numbers (interface 4.5), and what else a reference held is
 * left out. A reference may point at nothing, and a group may be empty.
 */
export function readReferences(map: Json, problems: ProblemCollector): JsonObject {
  return readGroups(map, problems, knownPart)
}

/** The same of a map that git brought, group by group, so that others have their turn. */
export async function readReferencesInTurns(map: Json, problems: ProblemCollector): Promise<JsonObject> {
  return isJsonObject(map) ? readGroupsInTurns(map, problems, knownPart) : readReferences(map, problems)
}

/** The same of one that somebody sends. */
export async function acceptReferencesInTurns(
  map: JsonObject,
  problems: ProblemCollector,
): Promise<JsonObject> {
  return isWithinBound(map, problems) ? readGroupsInTurns(map, problems, (reference) => reference) : {}
}

async function readGroupsInTurns(
  map: JsonObject,
  problems: ProblemCollector,
  partOf: (reference: Json) => Json,
): Promise<JsonObject> {
  const groups: [string, Json][] = []
  await new TimeSlice().each(entriesOf(map), ([key, group]) => {
    groups.push([key, problems.below(key, () => readGroup(group, problems, partOf))])
  })
  return fromEntries(groups)
}

function readGroups(map: Json, problems: ProblemCollector, partOf: (reference: Json) => Json): JsonObject {
  return readEach(map, 'references must be an object of groups by key', problems, (group) =>
    readGroup(group, problems, partOf),
  )
}

function readGroup(group: Json, problems: ProblemCollector, partOf: (reference: Json) => Json): JsonObject {
  return readEach(group, 'a group must be an object of references by name', problems, (reference) =>
    readClosedObject(partOf(reference), 'a reference', readers, problems),
  )
}

/**
 * The same of what somebody sends, which has bounds and may hold nothing else; what came by plain git before there were any is read all the
 * same.
 */
export function acceptReferences(map: Json, problems: ProblemCollector): JsonObject {
  return isWithinBound(map, problems) ? readGroups(map, problems, (reference) => reference) : {}
}

/** So many keys an environment may have, and so many references in all. */
export const MOST_PINS = 10_000
const MOST_REFERENCES = 3 * MOST_PINS

/** Whether the map is of a size that is worth reading; adds the problem if it is not. */
function isWithinBound(map: Json, problems: ProblemCollector): boolean {
  const groups = isJsonObject(map) ? entriesOf(map) : []
  let references = 0
  if (groups.length <= MOST_PINS) {
    for (const [, group] of groups) if (isJsonObject(group)) references += keysOf(group).length
    if (references <= MOST_REFERENCES) return true
  }
  const [what, most] = groups.length > MOST_PINS ? ['keys', MOST_PINS] : ['references', MOST_REFERENCES]
  problems.add(`references must have at most ${most} ${what} in all; use several environments`, 'too_long')
  return false
}

function readEach(
  map: Json,
  rule: string,
  problems: ProblemCollector,
  read: (member: Json) => Json,
): JsonObject {
  if (!isJsonObject(map)) {
    problems.add(`${rule}, but it is ${typeName(map)}`, 'object_type')
    return {}
  }
  return fromEntries(entriesOf(map).map(([key, member]) => [key, problems.below(key, () => read(member))]))
}

function knownPart(reference: Json): Json {
  return isJsonObject(reference)
    ? fromEntries(entriesOf(reference).filter(([key]) => readers.has(key)))
    : reference
}

const readers: ReadonlyMap<string, MemberReader> = new Map<string, MemberReader>([
  ['id', readId],
  ['slug', readSlug],
  ['version', readVersion],
])

function readId(id: Json, problems: ProblemCollector): string | undefined {
  const read = typeof id === 'string' ? parseUuid(id) : undefined
  if (read === undefined)
    problems.add(`an id must be a UUID, but this is ${formatValueForPeople(id)}`, 'uuid_parsing')
  return read
}

function readSlug(slug: Json, problems: ProblemCollector): string | undefined {
  if (typeof slug !== 'string') {
    problems.add(`a slug must be a string, but it is ${typeName(slug)}`, 'string_type')
    return undefined
  }
  const problem = slugProblem(slug)
  if (problem !== undefined) problems.add(`the slug ${formatValueForPeople(slug)} ${problem}`, 'invalid_slug')
  return slug
}

function readVersion(version: Json, problems: ProblemCollector): number | undefined {
  const number = typeof version === 'string' && /^[0-9]{1,15}$/.test(version) ? Number(version) : version
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number
  problems.add(
    `a version must be a whole number from 1 on, but this is ${formatValueForPeople(version)}`,
    'invalid_version',
  )
  return undefined
}
