import { z } from 'zod'

/** The schemas of the catalog's answers (interface 7.13). */

const schema = z.unknown().meta({ type: 'object', description: 'A JSON Schema.' })

const values = z.unknown().meta({ type: 'object' })

const flags = z.strictObject({
  is_application: z.boolean(),
  is_evaluator: z.boolean(),
  is_snippet: z.boolean(),
  is_archived: z.boolean(),
  is_recommended: z.boolean(),
})

const data = {
  uri: z.string(),
  schemas: z
    .strictObject({ parameters: schema.optional(), inputs: schema.optional(), outputs: schema.optional() })
    .optional(),
  parameters: values.optional(),
}

const described = {
  key: z.string(),
  description: z.string(),
  categories: z.array(z.string()),
  flags,
  ...data,
  data: z.strictObject(data),
}

/** A set of values for a template. */
export const catalogPreset = z.strictObject({ ...described, name: z.string() })

/** A template with its presets. */
export const catalogTemplate = z.strictObject({
  ...described,
  name: z.string().optional(),
  presets: z.array(catalogPreset),
})

/** A JSON Schema, and the name by which `x-svc-type-ref` refers to it. */
export const catalogType = z.strictObject({ key: z.string(), json_schema: schema })

/** A template in the list for older clients. */
export const legacyTemplate = z.strictObject({
  name: z.string(),
  key: z.string(),
  direct_use: z.boolean(),
  settings_presets: z.array(z.strictObject({ key: z.string(), name: z.string(), values })).optional(),
  settings_template: z.record(
    z.string(),
    z.strictObject({
      label: z.string(),
      type: z.string().optional(),
      default: z.unknown().optional(),
      description: z.string().optional(),
      required: z.boolean(),
      advanced: z.boolean().optional(),
    }),
  ),
  outputs_schema: schema.optional(),
  description: z.string(),
  oss: z.boolean(),
  requires_llm_api_keys: z.boolean(),
  tags: z.array(z.string()),
  archived: z.boolean(),
})
