import type { Content, OpenApiDocument, Operation, Parameter, Ref } from './openapi-document.ts'

/** As much of JSON Schema as the OpenAPI document uses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
  readonly prefixItems?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

/**
 * TypeScript types of an OpenAPI document: `Schemas` has its components by name, `Routes` an entry a route (`'POST /workflows/graph'`) with its
 * path parameters, query, body and answer. Every member is readonly.
 */
export function routeTypes({ paths = {}, components = {} }: OpenApiDocument): string {
  const schemas = Object.entries(components.schemas ?? {}).map(
    ([name, schema]) => `  readonly ${name}: ${typeOf(schema as Schema)}`,
  )
  const routes = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(
      ([method, operation]) =>
        `  readonly '${method.toUpperCase()} ${path}': ${routeOf(operation, components)}`,
    ),
  )
  return `${[
    '// Made of the OpenAPI document by scripts/web-types.ts.',
    'export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }',
    'export interface JsonObject { readonly [key: string]: Json }',
    `export interface Schemas {\n${schemas.join('\n')}\n}`,
    `export interface Routes {\n${routes.join('\n')}\n}`,
  ].join('\n\n')}\n`
}

function routeOf(operation: Operation, components: NonNullable<OpenApiDocument['components']>): string {
  const parameters = (operation.parameters ?? []).map((it) =>
    isRef(it) ? components.parameters?.[nameIn(it.$ref)] : it,
  )
  const of = (place: string): string =>
    members(
      parameters
        .filter((it): it is Parameter => it?.in === place)
        .map(({ name, required = false, schema }) => [name, required, typeOf((schema ?? {}) as Schema)]),
    )
  const answer = operation.responses?.['200']
  const whole = answer && isRef(answer) ? components.responses?.[nameIn(answer.$ref)] : (answer as Content)
  return members([
    ['path', true, of('path')],
    ['query', true, of('query')],
    ['body', true, jsonOf(operation.requestBody) ?? 'undefined'],
    ['answer', true, jsonOf(whole) ?? 'string'],
  ])
}

function jsonOf(content: Content | undefined): string | undefined {
  const json = content?.content?.['application/json']
  return json && typeOf((json.schema ?? {}) as Schema)
}

function isRef(value: object): value is Ref {
  return '$ref' in value
}

function nameIn(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}

type Member = readonly [name: string, isRequired: boolean, type: string]

function members(list: readonly Member[]): string {
  const written = list.map(
    ([name, isRequired, type]) => `readonly ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${type}`,
  )
  return written.length === 0 ? '{}' : `{ ${written.join('; ')} }`
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return `Schemas['${nameIn(schema.$ref)}']`
  const parts = [
    ...(schema.allOf ?? []).map(typeOf),
    ...(schema.anyOf ? [union(schema.anyOf.map(typeOf))] : []),
    ...(schema.oneOf ? [union(schema.oneOf.map(typeOf))] : []),
    ...own(schema),
  ]
  return parts.length === 0 ? 'Json' : parts.length === 1 ? (parts[0] as string) : `(${parts.join(' & ')})`
}

/** What a schema says itself, beside those that it combines. */
function own(schema: Schema): string[] {
  if ('const' in schema) return [JSON.stringify(schema.const)]
  if (schema.enum) return [union(schema.enum.map((it) => JSON.stringify(it)))]
  if (schema.properties) return [objectOf(schema)]
  const isCombination = schema.allOf ?? schema.anyOf ?? schema.oneOf
  if (schema.type === undefined || (isCombination && schema.type === 'object')) return []
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  return [union(types.map((type) => plain(type, schema)))]
}

function plain(type: string, schema: Schema): string {
  switch (type) {
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return schema.prefixItems
        ? `readonly [${schema.prefixItems.map(typeOf).join(', ')}]`
        : `readonly (${schema.items ? typeOf(schema.items) : 'Json'})[]`
    case 'object':
      return typeof schema.additionalProperties === 'object'
        ? `{ readonly [key: string]: ${typeOf(schema.additionalProperties)} }`
        : 'JsonObject'
    default:
      return type
  }
}

function objectOf({ properties = {}, required = [], additionalProperties }: Schema): string {
  const named = members(
    Object.entries(properties).map(([name, schema]) => [name, required.includes(name), typeOf(schema)]),
  )
  return typeof additionalProperties === 'object' && Object.keys(additionalProperties).length > 0
    ? `(${named} & { readonly [key: string]: ${typeOf(additionalProperties)} })`
    : named
}

function union(types: readonly string[]): string {
  const distinct = [...new Set(types)]
  return distinct.length === 1 ? (distinct[0] as string) : `(${distinct.join(' | ')})`
}
