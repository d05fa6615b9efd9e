import { entriesOf, getKey, isJsonObject, type Json, type JsonObject, withKey } from '../../base/json.ts'
import type { CatalogPreset, CatalogTemplate } from './catalog-template.ts'

/**
 * The `data` of a workflow made from a template: its uri, and the preset's values or the template's defaults
 * (interface 7.13). The uri's schemas are added on commit.
 */
export function templateData(template: CatalogTemplate, preset: CatalogPreset | undefined): JsonObject {
  const { parameters, schemas = {} } = preset ?? { parameters: template.parameters }
  return {
    uri: template.uri,
    ...(Object.keys(schemas).length > 0 ? { schemas: { ...schemas } } : {}),
    ...(parameters && entriesOf(parameters).length > 0 ? { parameters } : {}),
  }
}

/**
 * Merges a client's own data over `data`: its members win; `parameters` and `schemas` are merged member by
 * member. A value that is no object is returned unchanged, to be refused later.
 */
export function withOwnData(data: JsonObject, own: Json | undefined): Json {
  if (own === undefined) return data
  if (!isJsonObject(own)) return own
  let whole = data
  for (const [key, value] of entriesOf(own)) {
    if (value === null) continue
    const before = getKey(whole, key)
    const isMerged = MERGED.includes(key) && isJsonObject(before) && isJsonObject(value)
    whole = withKey(whole, key, isMerged ? overlaid(before, value) : value)
  }
  return whole
}

const MERGED = ['schemas', 'parameters']

function overlaid(before: JsonObject, over: JsonObject): JsonObject {
  return entriesOf(over).reduce((whole, [key, value]) => withKey(whole, key, value), before)
}
