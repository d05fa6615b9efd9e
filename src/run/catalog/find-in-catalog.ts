import type { CatalogPreset, CatalogTemplate } from './catalog-template.ts'
import { handlerDefinitions } from '../handlers/built-in-handlers.ts'
import type { HandlerDefinition } from '../handlers/handler.ts'
import { handlerTable } from '../handlers/workflows.ts'
import {
  entriesOf,
  fromEntries,
  getKey,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  withKey,
  withoutKey,
} from '../../base/json.ts'

/** Flags that a template must have, by name. */
export type CatalogFilter = Readonly<Partial<Record<string, boolean>>>

/** The templates with these flags, in catalog order; archived ones only on request. */
export function listTemplates(
  flags: CatalogFilter,
  { includeArchived }: { readonly includeArchived: boolean },
): readonly CatalogTemplate[] {
  return catalogTemplates.filter(
    (template) => (includeArchived || !template.flags.is_archived) && hasFlags(template, flags),
  )
}

/** The template with this key and these flags, archived or not; undefined if there is none. */
export function findTemplate(key: string, flags: CatalogFilter): CatalogTemplate | undefined {
  return catalogTemplates.find((template) => template.key === key && hasFlags(template, flags))
}

/** The preset with this key; undefined if the template has none. */
export function findPreset(template: CatalogTemplate, key: string): CatalogPreset | undefined {
  return template.presets.find((preset) => preset.key === key)
}

function hasFlags(template: CatalogTemplate, wanted: CatalogFilter): boolean {
  const flags: Readonly<Record<string, boolean>> = { ...template.flags }
  return Object.entries(wanted).every(([name, value]) => value === undefined || flags[name] === value)
}

/**
 * The default values in a schema of parameters (interface 7.13); `{}` if there are none. A null default
 * counts as none, since it means the same as leaving the parameter out.
 */
function parameterDefaults(schema: JsonObject | undefined): JsonObject {
  const properties = schema && getKey(schema, 'properties')
  if (!isJsonObject(properties)) return {}
  return fromEntries(
    entriesOf(properties).flatMap(([name, property]) => {
      const value = isJsonObject(property) ? getKey(property, 'default') : undefined
      return value === undefined || value === null ? [] : [[name, value] as const]
    }),
  )
}

/** The schema without defaults that are objects or arrays, at any level. */
function withPlainDefaults(schema: JsonObject): JsonObject {
  const value = getKey(schema, 'default')
  const isPlain = !isJsonObject(value) && !isJsonArray(value)
  let plain = isPlain ? schema : withoutKey(schema, 'default')
  for (const [keyword, below] of entriesOf(plain)) plain = withKey(plain, keyword, insideOf(keyword, below))
  return plain
}

/** The value of a keyword, with its schemas treated the same. */
function insideOf(keyword: string, value: Json): Json {
  if (isJsonObject(value)) {
    if (keyword === 'items') return withPlainDefaults(value)
    if (keyword !== 'properties' && keyword !== '$defs') return value
    return fromEntries(
      entriesOf(value).map(([name, schema]) => [
        name,
        isJsonObject(schema) ? withPlainDefaults(schema) : schema,
      ]),
    )
  }
  return value
}

/**
 * The catalog begins with these, the most general ones; the others follow in table order (interface 7.13).
 */
const FIRST: readonly string[] = ['feedback', 'hook', 'code', 'mock', 'match', 'llm']

/** All templates in catalog order, including archived ones (interface 7.13). */
export const catalogTemplates: readonly CatalogTemplate[] = handlerDefinitions
  .flatMap(templateOf)
  .sort((a, b) => placeOf(a) - placeOf(b))

function placeOf({ key }: CatalogTemplate): number {
  const place = FIRST.indexOf(key)
  return place === -1 ? FIRST.length : place
}

/** Empty for a handler that the catalog does not offer. */
function templateOf({
  key,
  schemas: own = {},
  template,
  presets = [],
}: HandlerDefinition): CatalogTemplate[] {
  if (!template) return []
  const { name, description, roles, categories, isArchived = false, callsModels = false } = template
  const { parameters, ...schemas } = own
  return [
    {
      key,
      ...(name === undefined ? {} : { name }),
      description,
      categories,
      flags: {
        is_application: roles !== 'evaluator',
        is_evaluator: roles !== 'application',
        is_snippet: false,
        is_archived: isArchived,
        is_recommended: false,
      },
      uri: handlerTable.uriOf(key),
      schemas: { ...(parameters ? { parameters: withPlainDefaults(parameters) } : {}), ...schemas },
      parameters: parameterDefaults(parameters),
      presets,
      callsModels,
    },
  ]
}
