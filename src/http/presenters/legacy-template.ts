import type { CatalogTemplate } from '../../handlers/catalog/catalog-template.ts'
import { entriesOf, getKey, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'

/** An evaluator's template in the shape that clients had before there was a catalog (interface 7.13). */
export function presentLegacyTemplate(template: CatalogTemplate): object {
  const { key, name = key, description, categories, flags, schemas, presets, callsModels } = template
  const settings = settingsOf(template)
  const pinned = presets.flatMap((preset) =>
    preset.parameters ? [{ key: preset.key, name: preset.name, values: preset.parameters }] : [],
  )
  return {
    name,
    key,
    // Whether it can be used as it is, with nothing filled in.
    direct_use: Object.values(settings).every((setting) => !setting.required || 'default' in setting),
    ...(pinned.length > 0 ? { settings_presets: pinned } : {}),
    settings_template: settings,
    ...(schemas.outputs ? { outputs_schema: schemas.outputs } : {}),
    description,
    oss: true,
    requires_llm_api_keys: callsModels,
    tags: categories,
    archived: flags.is_archived,
  }
}

interface Setting {
  readonly label: string
  readonly type?: Json
  readonly default?: Json
  readonly description?: Json
  readonly required: boolean
  readonly advanced?: true
}

/** What can be set, by the name of the parameter. */
function settingsOf({ schemas, parameters }: CatalogTemplate): Readonly<Record<string, Setting>> {
  const properties = schemas.parameters && getKey(schemas.parameters, 'properties')
  if (!isJsonObject(properties)) return {}
  const required = schemas.parameters && getKey(schemas.parameters, 'required')
  return Object.fromEntries(
    entriesOf(properties).map(([name, schema]): [string, Setting] => {
      const about = (key: string): Json | undefined =>
        isJsonObject(schema) ? getKey(schema, key) : undefined
      const title = about('title')
      const type = about('x-svc-type') ?? about('x-svc-type-ref') ?? about('type')
      const value = getKey(parameters, name)
      const description = about('description')
      const setting = {
        label: typeof title === 'string' ? title : name,
        ...(type === undefined ? {} : { type }),
        ...(value === undefined ? {} : { default: value }),
        ...(description === undefined ? {} : { description }),
        required: isJsonArray(required) && required.includes(name),
        ...(about('x-svc-ui-advanced') === true ? { advanced: true as const } : {}),
      }
      return [name, setting]
    }),
  )
}
