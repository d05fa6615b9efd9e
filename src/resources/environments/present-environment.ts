import { entriesOf, fromEntries, isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import type { PresentContext } from '../../versioning/family/family.ts'

/** An environment's data as a reader sees it: the versions of its references as numbers, or as text (interface 4.5). */
export function presentEnvironment(
  data: JsonObject,
  { versionType }: Pick<PresentContext, 'versionType'>,
): JsonObject {
  if (versionType !== 'string') return data
  return mapMembers(data, (references) =>
    mapMembers(references, (group) => mapMembers(group, (reference) => mapMembers(reference, versionAsText))),
  ) as JsonObject // an object of members stays one
}

function mapMembers(value: Json, map: (member: Json, key: string) => Json): Json {
  return isJsonObject(value)
    ? fromEntries(entriesOf(value).map(([key, member]) => [key, map(member, key)]))
    : value
}

function versionAsText(member: Json, key: string): Json {
  return key === 'version' ? String(member) : member
}
