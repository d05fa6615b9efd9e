import { escapeHtml, lineToHtml } from './escape-html.ts'
import { type OpenApiDocument, type Schema, type SchemaObject, dereference } from './open-api-document.ts'

/** A schema as a collapsible HTML outline, references resolved; a schema inside itself is only named. */
export function schemaToHtml(document: OpenApiDocument, schema: Schema): string {
  return (
    partsToHtml(document, schema, []) || `<p class="type">${escapeHtml(schemaTypeName(document, schema))}</p>`
  )
}

/** A short word for what a schema allows: `string`, `array of object`, `"a" or "b"`. */
export function schemaTypeName(document: OpenApiDocument, schema: Schema): string {
  if (typeof schema === 'boolean') return schema ? 'anything' : 'nothing'
  const own = dereference(document, schema)
  if (own.const !== undefined) return JSON.stringify(own.const)
  if (own.enum) return own.enum.map((value) => JSON.stringify(value)).join(' or ')
  const choices = own.oneOf ?? own.anyOf
  if (choices) return [...new Set(choices.map((choice) => schemaTypeName(document, choice)))].join(' or ')
  if (own.items !== undefined) return `array of ${schemaTypeName(document, own.items)}`
  const type = typeof own.type === 'string' ? own.type : own.type?.join(' or ')
  const named = type ?? (own.properties ? 'object' : 'anything')
  return own.format ? `${named} (${own.format})` : named
}

/** Deeper than anybody reads, and a bound on the size of the page. */
const MAX_DEPTH = 7

function partsToHtml(document: OpenApiDocument, schema: Schema, above: readonly SchemaObject[]): string {
  if (typeof schema === 'boolean') return ''
  const own = dereference(document, schema)
  if (above.includes(own)) return '<p class="type">the same again</p>'
  if (above.length >= MAX_DEPTH) return ''
  const inside = [...above, own]
  const members = Object.entries(own.properties ?? {}).map(([name, member]) =>
    entryToHtml(document, name, member, own.required?.includes(name) ?? false, inside),
  )
  const extra = own.additionalProperties
  if (typeof extra === 'object') members.push(entryToHtml(document, 'any other key', extra, false, inside))
  const list = members.length > 0 ? `<ul class="schema">${members.join('')}</ul>` : ''
  const choices = own.oneOf ?? own.anyOf ?? own.allOf ?? (own.items === undefined ? [] : [own.items])
  return list + choices.map((choice) => partsToHtml(document, choice, inside)).join('')
}

function entryToHtml(
  document: OpenApiDocument,
  name: string,
  schema: Schema,
  required: boolean,
  above: readonly SchemaObject[],
): string {
  const own = typeof schema === 'boolean' ? {} : dereference(document, schema)
  // What stands beside a reference (OpenAPI 3.1 allows it) describes this use of it.
  const description = (typeof schema === 'object' ? schema.description : undefined) ?? own.description
  const line =
    `<span class="name">${escapeHtml(name)}</span> ` +
    (required ? '<span class="required">required</span> ' : '') +
    `<span class="type">${escapeHtml(schemaTypeName(document, schema))}${constraints(own)}</span>` +
    (description ? ` ${lineToHtml(description)}` : '')
  const parts = partsToHtml(document, schema, above)
  return parts === '' ? `<li>${line}</li>` : `<li><details><summary>${line}</summary>${parts}</details></li>`
}

function constraints({ pattern, default: preset }: SchemaObject): string {
  return (
    (pattern === undefined ? '' : `, <code>${escapeHtml(pattern)}</code>`) +
    (preset === undefined ? '' : `, default <code>${escapeHtml(JSON.stringify(preset))}</code>`)
  )
}
