import { z } from 'zod'
import { listTemplates, type CatalogTemplate } from '../../run/catalog.ts'
import { anyKey, endpoint } from '../routing/endpoint.ts'
import { legacyTemplate } from '../schemas/catalog.ts'
import { queryReading } from '../schemas/queries/query-parameters.ts'
import { list } from '../schemas/record-schemas.ts'
import { entriesOf, getKey, isJsonArray, isJsonObject, type Json } from '../../base/json.ts'

/** The evaluator templates in the format of older clients (interface 7.13). */
export const legacyTemplatesEndpoint = endpoint({
  method: 'GET',
  path: '/simple/evaluators/templates',
  tag: 'legacy',
  summary: 'What evaluators can be made from, in the shape of before the catalog',
  ...anyKey,
  input: z.object({ include_archived: z.boolean().optional() }),
  fromQuery: queryReading(['include_archived'], false),
  output: list('templates', legacyTemplate),
  run: ({ input: { include_archived: includeArchived = false } }) => {
    const templates = listTemplates({ is_evaluator: true }, { includeArchived }).map(presentLegacyTemplate)
    return { body: { count: templates.length, templates } }
  },
})

/** An evaluator's template in the format from before the catalog (interface 7.13). */
function presentLegacyTemplate(template: CatalogTemplate): object {
  const { key, name = key, description, categories, flags, schemas, presets, callsModels } = template
  const settings = settingsOf(template)
  const pinned = presets.flatMap((preset) =>
    preset.parameters ? [{ key: preset.key, name: preset.name, values: preset.parameters }] : [],
  )
  return {
    name,
    key,
    // Whether it can be used without filling in anything.
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

/** The settings by parameter name. */
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
