import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import {
  type CatalogTemplate,
  type CatalogPreset,
  findPreset,
  findTemplate,
  listTemplates,
  catalogTypes,
} from '../../run/catalog.ts'
import { type Endpoint, anyKey, endpoint } from '../routing/endpoint.ts'
import { catalogPreset, catalogTemplate, catalogType } from '../schemas/catalog.ts'
import { queryReading } from '../schemas/queries/query-parameters.ts'
import { list, single } from '../schemas/record-schemas.ts'
import { shown } from '../schemas/request-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { type JsonObject, keysOf } from '../../base/json.ts'
import type { BuiltInSchemas } from '../../registry/workflows.ts'

/**
 * The catalog of a surface (interface 7.13): templates and presets with the surface's roles, and the types
 * that any schema may refer to.
 */
export function catalogEndpoints({ surface }: SurfaceContext): Endpoint[] {
  const path = `/${surface.path}/catalog`
  const common = { method: 'GET', tag: 'catalog', ...anyKey } as const

  const templateIn = (params: Readonly<Record<string, string>>): CatalogTemplate => {
    const key = params['key'] ?? ''
    const template = findTemplate(key, surface.fixedFlags)
    if (template) return template
    const keys = listTemplates(surface.fixedFlags, { includeArchived: true }).map((it) => it.key)
    throw notFound('template', key, `those for ${surface.plural} are`, keys)
  }

  return [
    endpoint({
      ...common,
      path: `${path}/types`,
      summary: 'The JSON Schemas that x-svc-type-ref refers to',
      output: list('types', catalogType),
      run: () => {
        const types = [...catalogTypes].map(([key, schema]) => ({ key, json_schema: schema }))
        return { body: { count: types.length, types } }
      },
    }),
    endpoint({
      ...common,
      path: `${path}/types/:key`,
      summary: 'The JSON Schema of this name',
      params: byKey,
      output: single('type', catalogType),
      run: ({ params }) => {
        const key = params['key'] ?? ''
        const schema = catalogTypes.get(key)
        if (!schema) throw notFound('type', key, 'the types are', [...catalogTypes.keys()])
        return { body: { count: 1, type: { key, json_schema: schema } } }
      },
    }),
    endpoint({
      ...common,
      path: `${path}/templates`,
      summary: `What ${surface.plural} can be made from, with the presets of each`,
      ...filterInput,
      output: list('templates', catalogTemplate),
      run: ({ input: { include_archived: includeArchived = false, ...flags } }) => {
        const templates = listTemplates(surface.fixedFlags, { includeArchived })
          .filter(({ key }) => findTemplate(key, flags))
          .map(presentTemplate)
        return { body: { count: templates.length, templates } }
      },
    }),
    endpoint({
      ...common,
      path: `${path}/templates/:key`,
      summary: 'The template of this key, archived or not, with its presets',
      params: byKey,
      output: single('template', catalogTemplate),
      run: ({ params }) => {
        return { body: { count: 1, template: presentTemplate(templateIn(params)) } }
      },
    }),
    endpoint({
      ...common,
      path: `${path}/templates/:key/presets`,
      summary: 'The presets of this template',
      params: byKey,
      // Presets are never archived.
      unusedQuery: ['include_archived'],
      output: list('presets', catalogPreset),
      run: ({ params }) => {
        const presets = presentPresets(templateIn(params))
        return { body: { count: presets.length, presets } }
      },
    }),
    endpoint({
      ...common,
      path: `${path}/templates/:key/presets/:preset`,
      summary: 'The preset of this key',
      params: byKey.extend({ preset: z.string() }),
      output: single('preset', catalogPreset),
      run: ({ params }) => {
        const template = templateIn(params)
        const key = params['preset'] ?? ''
        const preset = findPreset(template, key)
        if (preset) return { body: { count: 1, preset: presentPreset(template, preset) } }
        const keys = template.presets.map((it) => it.key)
        throw notFound('preset', key, `those of the template ${template.key} are`, keys)
      },
    }),
    endpoint({
      ...common,
      path: `${path}/harnesses`,
      summary: 'What agents can be run in: nothing here, since agents do not run',
      output: list('harnesses', z.never()),
      run: () => ({ body: { count: 0, harnesses: [] } }),
    }),
  ]
}

const byKey = z.object({ key: z.string() })

const filters = ['include_archived', 'is_application', 'is_evaluator', 'is_snippet'] as const

const filterInput = {
  input: z.object(
    // The keys are exactly these names.
    Object.fromEntries(filters.map((name) => [name, z.boolean().optional()])) as Readonly<
      Record<(typeof filters)[number], z.ZodOptional<z.ZodBoolean>>
    >,
  ),
  fromQuery: queryReading(filters, false),
}

function notFound(
  what: 'template' | 'preset' | 'type',
  key: string,
  known: string,
  keys: readonly string[],
): Refusal {
  const others = keys.length > 0 ? `${known} ${keys.join(', ')}` : 'there are none'
  return new Refusal(`${what}_not_found`, `There is no ${what} ${shown(key)}; ${others}.`)
}

/** A template in an answer: its data at the top level and under `data` (interface 7.13), and its presets. */
function presentTemplate(template: CatalogTemplate): object {
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

function presentPresets(template: CatalogTemplate): readonly object[] {
  return template.presets.map((preset) => presentPreset(template, preset))
}

/** A preset in an answer; its flags and uri are the template's. */
function presentPreset(template: CatalogTemplate, preset: CatalogPreset): object {
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
