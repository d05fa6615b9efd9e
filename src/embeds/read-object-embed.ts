import { entriesOf, getKey, hasKey, isJsonObject, type Json, type JsonObject } from '../json/json.ts'
import type { EmbedReference, EmbedReferences, EmbedSelector, ObjectEmbed } from './embed-token.ts'
import { REFERENCE_FIELDS, type ReferenceField, referenceOfFields } from './reference-of-fields.ts'

const MARK = '@svc.embed'

/** Whether an object claims to be a form A embed. What is inside such an object is looked at by nobody else. */
export function isObjectEmbed(value: Json): value is JsonObject {
  return isJsonObject(value) && hasKey(value, MARK)
}

/**
 * What a form A embed says (contract/resolve 3.1), without its place: `{"@svc.embed": {"@svc.references": {…},
 * "@svc.selector"?: {"key"?, "path"?}}}`. Undefined if it is malformed, which makes it inert: it stays as it is.
 */
export function readObjectEmbed(object: JsonObject): Omit<ObjectEmbed, 'location'> | undefined {
  const embed = getKey(object, MARK)
  if (!isJsonObject(embed) || entriesOf(embed).length === 0) return undefined
  const references = readReferences(getKey(embed, '@svc.references'))
  const selector = readSelector(getKey(embed, '@svc.selector'))
  return references && selector && { form: 'object', references, selector }
}

/** Members that are no objects are passed over; an ill-formed one makes the whole embed inert. */
function readReferences(value: Json | undefined): EmbedReferences | undefined {
  const references = new Map<string, EmbedReference>()
  if (!isJsonObject(value)) return references
  for (const [type, member] of entriesOf(value)) {
    if (!isJsonObject(member)) continue
    const reference = readReference(member)
    if (!reference) return undefined
    references.set(type, reference)
  }
  return references
}

/** A number as version is ill-formed (contract/resolve 13.9); null equals absent. */
function readReference(object: JsonObject): EmbedReference | undefined {
  const fields: Partial<Record<ReferenceField, string>> = {}
  for (const field of REFERENCE_FIELDS) {
    const value = getKey(object, field) ?? undefined
    if (value === undefined) continue
    if (typeof value !== 'string') return undefined
    fields[field] = value
  }
  return referenceOfFields(fields)
}

/** An empty key or path says as little as none. */
function readSelector(value: Json | undefined): EmbedSelector | undefined {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) return undefined
  const key = getKey(value, 'key') ?? ''
  const path = getKey(value, 'path') ?? ''
  if (typeof key !== 'string' || typeof path !== 'string') return undefined
  return { ...(key === '' ? {} : { key }), ...(path === '' ? {} : { path }) }
}
