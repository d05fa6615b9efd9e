import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { type Json, JsonTextError, parseJson } from '../../base/json.ts'
import { isDelimiter, ROW_FILE_TYPES, type RowFile, READ_FLAGS } from '../../registry/testsets.ts'
import type { Reading } from '../../registry/families.ts'
import type { References } from '../../registry/registries.ts'
import { parent, parentsOf, type SurfaceNames, idSpellings, spellings } from '../schemas/spellings.ts'
import { folder, jsonObject, slug, tags, uuid } from '../schemas/request-schemas.ts'
import type { Upload } from './upload.ts'

/** The text fields of a form (interface 8.16). */

const optionalText = z.string().optional()

const flag = z.enum(['true', 'false'], 'must be "true" or "false"').transform((text) => text === 'true')

/** A field that holds JSON text, which has to be what `schema` says. */
function jsonText<T>(schema: z.ZodType<T>) {
  return optionalText.transform((text, context): T | undefined => {
    if (text === undefined) return undefined
    const value = parsed(text, context)
    if (value === undefined) return z.NEVER
    const result = schema.safeParse(value)
    for (const issue of result.error?.issues ?? []) context.addIssue({ ...issue, code: 'custom' })
    return result.success ? result.data : z.NEVER
  })
}

function parsed(text: string, context: z.RefinementCtx): Json | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    context.addIssue({ code: 'custom', message: `is not JSON: ${error.message}` })
    return undefined
  }
}

/** What every upload of rows may say beside the file. */
export const fileFields = {
  file_type: z.enum(ROW_FILE_TYPES, `must be one of ${ROW_FILE_TYPES.join(', ')}`).optional(),
  types: z.enum(['infer', 'string'], 'must be "infer" or "string"').optional(),
  delimiter: z
    .string()
    .refine(isDelimiter, 'must be one character, and neither a quote nor the end of a line')
    .optional(),
  sheet: optionalText,
  allow_empty: flag.optional(),
  ...Object.fromEntries(READ_FLAGS.map((name) => [name, flag.optional()])),
}

/** What an upload may say that may commit nothing. */
export const ifChangedField = { if_changed: flag.optional() }

/** What a simple upload may say of the testset. */
export const testsetFields = {
  message: optionalText,
  testset_name: optionalText,
  testset_description: optionalText,
  testset_tags: jsonText(tags),
  testset_meta: jsonText(jsonObject),
  testset_folder: folder.optional(),
}

/**
 * What an upload to a revision may say of the variant that it is for: ids, and references as JSON text or with a dot
 * (`testset_variant_ref.slug`).
 */
export function parentTextFields(names: SurfaceNames) {
  const fields = PARENT_LEVELS.flatMap((level) => [
    ...idSpellings(names, level).map((name) => [name, uuid.optional()] as const),
    ...spellings(names, `${level}_ref`).flatMap(
      (name) =>
        [
          [name, jsonText(z.strictObject(parent.shape))],
          [`${name}.id`, uuid.optional()],
          [`${name}.slug`, slug.optional()],
        ] as const,
    ),
  ])
  return Object.fromEntries<z.ZodType>(fields)
}

/** What these fields say, as references. */
export function parentsOfFields(names: SurfaceNames, fields: Readonly<Record<string, unknown>>): References {
  const record: Record<string, unknown> = { ...fields }
  for (const name of PARENT_LEVELS.flatMap((level) => spellings(names, `${level}_ref`))) {
    const [id, slug] = [fields[`${name}.id`], fields[`${name}.slug`]]
    if (id === undefined && slug === undefined) continue
    if (record[name] !== undefined)
      throw new Refusal(
        'contradictory_request',
        `${name} comes as JSON text and as ${name}.${id === undefined ? 'slug' : 'id'}. Send one of them.`,
      )
    record[name] = { id, slug }
  }
  return parentsOf(names, record)
}

const PARENT_LEVELS = ['', '_variant'] as const

/** An uploaded file, to be read as the fields say: as CSV where nothing says what it is. */
export function rowFileOf(
  { file_type: type, types, delimiter, sheet, allow_empty: allowEmpty }: FileFields,
  { file }: Upload,
): RowFile {
  return {
    type: type ?? file.saidType ?? 'csv',
    infer: types === 'infer',
    delimiter,
    sheet: sheet === '' ? undefined : sheet,
    allowEmpty,
    maxBytes: file.maxBytes,
    chunks: () => file.chunks(),
  }
}

type FileFields = Pick<
  z.infer<z.ZodObject<typeof fileFields>>,
  'file_type' | 'types' | 'delimiter' | 'sheet' | 'allow_empty'
>

/** What the answer of an upload shows of the testset. */
export function readingOfFields(fields: Readonly<Record<string, unknown>>): Reading {
  // Of the schemas above.
  return { flags: Object.fromEntries(READ_FLAGS.map((name) => [name, fields[name] as boolean | undefined])) }
}
