import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../../json/json.ts'

/**
 * How much a JSON Schema asks of every value it is held against: the number of its parts, so that checking takes about so many steps for
 * each part of a value. Infinity where one part may be walked again and again or take its time: a reference, a pattern, a
 * format, uniqueness, or a keyword that is not known here.
 */
export function schemaWeight(schema: Json): number {
  if (typeof schema === 'boolean') return 1
  if (!isJsonObject(schema)) return Infinity
  return entriesOf(schema).reduce((sum, [keyword, value]) => sum + keywordWeight(keyword, value), 1)
}

function keywordWeight(keyword: string, value: Json): number {
  if (notes.has(keyword) || keyword.startsWith('x-')) return 0
  if (values.has(keyword)) return jsonWeight(value)
  if (keyword === 'properties' && isJsonObject(value))
    return entriesOf(value).reduce((sum, [, below]) => sum + schemaWeight(below), 1)
  if (!subschemas.has(keyword)) return Infinity
  return isJsonArray(value)
    ? value.reduce<number>((sum, below) => sum + schemaWeight(below), 1)
    : schemaWeight(value)
}

/** Keywords that are not checked. */
const notes: ReadonlySet<string> = new Set([
  '$schema',
  '$comment',
  'title',
  'description',
  'default',
  'examples',
  'deprecated',
  'readOnly',
  'writeOnly',
])

/** Keywords that compare with their value. */
const values: ReadonlySet<string> = new Set([
  'type',
  'enum',
  'const',
  'required',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
])

/** Keywords whose value is a subschema or a list of them, which see each part of a value once. */
const subschemas: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'additionalProperties',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
])

/** The parts of a value: itself and what it holds; of a text every thousand characters. */
export function jsonWeight(value: Json): number {
  if (typeof value === 'string') return 1 + value.length / 1000
  if (isJsonArray(value)) return value.reduce<number>((sum, item) => sum + jsonWeight(item), 1)
  if (!isJsonObject(value)) return 1
  return entriesOf(value).reduce((sum, [, member]) => sum + jsonWeight(member), 1)
}
