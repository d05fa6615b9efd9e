import type { CatalogPreset, CatalogTemplate } from '../../handlers/catalog/catalog-template.ts'
import type { JsonObject } from '../../json/json.ts'
import { keysOf } from '../../json/json.ts'
import type { BuiltInSchemas } from '../../resources/workflows/schemas/built-in.ts'

/** A template as an answer has it: what it is made of at the top level and under `data` (interface 7.13), and its presets. */
export function presentTemplate(template: CatalogTemplate): object {
  const { key, name, description, categories, flags, uri, schemas, parameters } = template
  const data = dataOf(uri, schemas, parameters)
  const presets = presentPresets(template)
  return {
    key,
    ...(name === undefined ? {} : { name }),
    description,
    categories,
    flags,
    ...data,
    data,
    presets,
  }
}

/** The presets of a template, in its order. */
export function presentPresets(template: CatalogTemplate): readonly object[] {
  return template.presets.map((preset) => presentPreset(template, preset))
}

/** A preset as an answer has it; roles and uri are its template's. */
export function presentPreset(template: CatalogTemplate, preset: CatalogPreset): object {
  const { key, name, description, categories, parameters, schemas } = preset
  const flags = { ...template.flags, is_archived: false, is_recommended: false }
  const data = dataOf(template.uri, schemas, parameters)
  return { key, name, description, categories, flags, ...data, data }
}

function dataOf(uri: string, schemas: BuiltInSchemas = {}, parameters: JsonObject = {}): object {
  return {
    uri,
    ...(Object.keys(schemas).length > 0 ? { schemas } : {}),
    ...(keysOf(parameters).length > 0 ? { parameters } : {}),
  }
}
