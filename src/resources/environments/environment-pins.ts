import type { Json, JsonObject } from '../../json/json.ts'
import { entriesOf, getKey, isJsonObject } from '../../json/json.ts'
import type { Pin, Reference } from '../../versioning/reference.ts'

/** The pins of an environment's data, in their order. */
export function environmentPins(data: JsonObject): readonly Pin[] {
  return membersOf(getKey(data, 'references')).map(([key, group]) => ({
    key,
    references: new Map(membersOf(group).map(([name, reference]) => [name, referenceOf(reference)])),
  }))
}

function membersOf(value: Json | undefined): readonly [string, Json][] {
  return isJsonObject(value) ? entriesOf(value) : []
}

function referenceOf(value: Json): Reference {
  const members = new Map(membersOf(value))
  const [id, slug, version] = [members.get('id'), members.get('slug'), members.get('version')]
  const reference: { -readonly [key in keyof Reference]: Reference[key] } = {}
  if (typeof id === 'string') reference.id = id
  if (typeof slug === 'string') reference.slug = slug
  if (typeof version === 'number') reference.version = version
  return reference
}
