import { entriesOf, getKey, isJsonObject, keysOf, type Json, type JsonObject } from '../../base/json.ts'
import { EmbedRefusal } from './embed-refusal.ts'
import type { EmbedLookup } from './targets/embed-lookup.ts'
import type { EmbedReference, EmbedReferences, EmbedToken } from './syntax/embed-token.ts'
import { REFERENCE_FIELDS, type ReferenceField, referenceOfFields } from './reference-of-fields.ts'

/** The pin that an embed follows (interface 10.4, 10.9); undefined if it means its target itself. */
export function pinToFollow(
  form: EmbedToken['form'],
  key: string | undefined,
  { family }: EmbedLookup,
  pins: JsonObject | undefined,
): EmbedReferences | undefined {
  if (key === '') return undefined
  if (key !== undefined) return pinnedReferences(pins, key)
  return form === 'short' && family === 'environment' ? onlyPin(pins) : undefined
}

/**
 * The references in an environment's pin (interface 10.9): the pin with this key; else the pin at the key's
 * dotted path; else the first pin whose variant's slug is the key. Throws `embed_not_found`.
 */
function pinnedReferences(pins: JsonObject | undefined, key: string): EmbedReferences {
  if (!pins) {
    throw new EmbedRefusal(
      'embed_not_found',
      `Its target is no environment with pins, so it has no "${key.slice(0, 80)}" to follow; leave the key out.`,
    )
  }
  const pin = getKey(pins, key) ?? walk(pins, key.split('.')) ?? pinOfVariant(pins, key)
  if (!isJsonObject(pin)) {
    throw new EmbedRefusal(
      'embed_not_found',
      `The environment has no pin "${key.slice(0, 80)}"; ${listed(pins)}.`,
    )
  }
  return readPin(pin, key)
}

/**
 * The references of an environment's only pin, which a form C embed without a key follows (interface 10.4).
 */
function onlyPin(pins: JsonObject | undefined): EmbedReferences {
  const [key, ...others] = pins ? keysOf(pins) : []
  if (pins && key !== undefined && others.length === 0) return pinnedReferences(pins, key)
  throw new EmbedRefusal(
    'embed_invalid',
    `The environment does not have exactly one pin, so a key must name it; ${listed(pins)}.`,
  )
}

function walk(pins: JsonObject, keys: readonly string[]): Json | undefined {
  let at: Json | undefined = pins
  for (const key of keys) at = isJsonObject(at) ? getKey(at, key) : undefined
  return at
}

function pinOfVariant(pins: JsonObject, slug: string): Json | undefined {
  for (const [, pin] of entriesOf(pins)) {
    if (!isJsonObject(pin)) continue
    for (const type of ['application_variant', 'workflow_variant', 'evaluator_variant']) {
      const variant = getKey(pin, type)
      if (isJsonObject(variant) && getKey(variant, 'slug') === slug) return pin
    }
  }
  return undefined
}

function readPin(pin: JsonObject, key: string): EmbedReferences {
  const references = new Map<string, EmbedReference>()
  for (const [type, member] of entriesOf(pin)) {
    const reference = isJsonObject(member) ? readReference(member) : undefined
    if (!reference) {
      throw new EmbedRefusal(
        'embed_invalid',
        `The pin "${key.slice(0, 80)}" holds no valid reference under "${type.slice(0, 80)}".`,
      )
    }
    references.set(type, reference)
  }
  return references
}

/** The service stores pins, so a version may also be a number (interface 4.5). */
function readReference(object: JsonObject): EmbedReference | undefined {
  const fields: Partial<Record<ReferenceField, string>> = {}
  for (const field of REFERENCE_FIELDS) {
    const value = getKey(object, field) ?? undefined
    if (typeof value === 'string') fields[field] = value
    else if (field === 'version' && typeof value === 'number') fields.version = String(value)
    else if (value !== undefined) return undefined
  }
  return referenceOfFields(fields)
}

function listed(pins: JsonObject | undefined): string {
  const keys = pins ? keysOf(pins) : []
  if (keys.length === 0) return 'it has none'
  const shown = keys.slice(0, 10).map((key) => `"${key.slice(0, 80)}"`)
  return `it has ${shown.join(', ')}${keys.length > 10 ? ' and others' : ''}`
}
