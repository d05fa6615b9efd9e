import type { AttributeValue, Attributes } from '@opentelemetry/api'
import { boundedJson } from '../../json/bounded-json.ts'
import { boundedText } from '../../json/json-values.ts'
import type { Json } from '../../json/json.ts'
import { ExactNumber, entriesOf, isJsonArray, isJsonObject } from '../../json/json.ts'

/** Longest text of an attribute, in characters: the whole of it is in our own store. */
export const MAX_TEXT = 16 * 1024

/** Most attributes of a span. */
const MAX_ATTRIBUTES = 256

/** The flat attributes of a span. */
export interface OtlpAttributes {
  readonly attributes: Attributes
  /** How many characters they hold, roughly. */
  readonly size: number
  readonly dropped: number
}

/**
 * The attributes of a span under names with dots, as OpenTelemetry has them: members of objects each by themselves, but inputs, outputs
 * and parameters (`svc.data.*`) as one JSON text each, a text among them as it is. Long texts are cut off, as is what is past 256
 * attributes. Names that have their dots already (`gen_ai.request.model`) stay.
 */
export function otlpAttributes(nested: Json): OtlpAttributes {
  const flat = new Map<string, AttributeValue>()
  let size = 0
  let dropped = 0
  const flatten = (name: string, value: Json) => {
    if (flat.size >= MAX_ATTRIBUTES) return void dropped++
    const isData = name.startsWith('svc.data.')
    if (isJsonObject(value) && !isData) {
      for (const [key, member] of entriesOf(value)) flatten(`${name}.${boundedText(key, 256)}`, member)
    } else if (value !== null || isData) {
      const attribute = attributeValue(value)
      flat.set(name, attribute)
      size += name.length + lengthOf(attribute)
    }
  }
  if (isJsonObject(nested)) for (const [name, value] of entriesOf(nested)) flatten(name, value)
  return { attributes: Object.fromEntries(flat), size, dropped }
}

function attributeValue(value: Json): AttributeValue {
  if (typeof value === 'string') return boundedText(value, MAX_TEXT)
  if (typeof value === 'boolean') return value
  const number = value instanceof ExactNumber ? Number(value.literal) : value
  // An integer goes out with 64 bits; what has no place there goes as it is written.
  if (Number.isSafeInteger(number) || (Number.isFinite(number) && !Number.isInteger(number)))
    return number as number // only a number is either
  if (isJsonArray(value) && value.length <= MAX_ATTRIBUTES && value.every((item) => typeof item === 'string'))
    return value.map((item) => boundedText(item, 1024))
  return boundedJson(value, MAX_TEXT)
}

function lengthOf(value: AttributeValue): number {
  if (typeof value === 'string') return value.length
  return Array.isArray(value) ? JSON.stringify(value).length : 8
}
