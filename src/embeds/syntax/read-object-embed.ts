import {
  entriesOf,
  getKey,
  hasKey,
  isJsonObject,
  keysOf,
  numberOf,
  type Json,
  type JsonObject,
} from '../../json/json.ts'
import type { EmbedReference, EmbedReferences, EmbedSelector, ObjectEmbed } from './embed-token.ts'
import { REFERENCE_FIELDS, type ReferenceField, referenceOfFields } from '../reference-of-fields.ts'

const MARK = '@svc.embed'
const REFERENCES = '@svc.references'
const SELECTOR = '@svc.selector'

/**
 * Whether an object claims to be a form A embed, or what one holds by itself (interface 10.2): references, with nothing beside them but a
 * selector. What is inside such an object is looked at by nobody else.
 */
export function isObjectEmbed(value: Json): value is JsonObject {
  return isJsonObject(value) && (hasKey(value, MARK) || (hasKey(value, REFERENCES) && isBare(value)))
}

/** Whether an object has references with other things beside them, which makes it no embed. */
export function isMixedEmbed(value: Json): boolean {
  return isJsonObject(value) && hasKey(value, REFERENCES) && !hasKey(value, MARK) && !isBare(value)
}

function isBare(object: JsonObject): boolean {
  return keysOf(object).every((key) => key === REFERENCES || key === SELECTOR)
}

/**
 * What a form A embed says (interface 10.2), without its place: `{"@svc.embed": {"@svc.references": {…},
 * "@svc.selector"?: {"key"?, "path"?}}}`, or the inner object alone. Undefined if it is malformed, which makes it inert: it stays as it is.
 */
export function readObjectEmbed(object: JsonObject): Omit<ObjectEmbed, 'location'> | undefined {
  const embed = hasKey(object, MARK) ? getKey(object, MARK) : object
  if (!isJsonObject(embed) || entriesOf(embed).length === 0) return undefined
  const sent = getKey(embed, REFERENCES)
  // A user's own data may use the word: alone, it must be followed by references.
  if (embed === object && !(isJsonObject(sent) && entriesOf(sent).length > 0)) return undefined
  const references = readReferences(sent)
  const selector = readSelector(getKey(embed, SELECTOR))
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

/** A version is a number or a numeric string (interface 10.2); null equals absent. */
function readReference(object: JsonObject): EmbedReference | undefined {
  const fields: Partial<Record<ReferenceField, string>> = {}
  for (const field of REFERENCE_FIELDS) {
    const sent = getKey(object, field) ?? undefined
    if (sent === undefined) continue
    const number = field === 'version' ? numberOf(sent) : undefined
    const value = number === undefined ? sent : String(number)
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
