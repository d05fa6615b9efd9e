import { z } from 'zod'
import { type Json, type JsonObject, entriesOf, isJsonObject, keysOf, boundedJson } from '../../base/json.ts'
import { folderProblem } from '../../base/folders.ts'
import { slugProblem } from '../../registry/artifacts.ts'
import { parseUuid, LIST_ORDERS } from '../../registry/registries.ts'
import { declare } from '../routing/known-fields.ts'

/** Parts of request bodies that all families share (interface 1.8, 1.17). */

export const uuid = z
  .string()
  .transform((text, context) => parseUuid(text) ?? noUuid(text, context))
  .meta({ format: 'uuid' })

function noUuid(text: string, context: z.RefinementCtx): never {
  context.addIssue({
    code: 'custom',
    message: `${shown(text)} is not an id; send a UUID`,
    params: { type: 'uuid_parsing' },
  })
  return z.NEVER
}

/** A slug in a reference or filter. A slug that no thing can have is refused. */
export const slug = z
  .string()
  .check(({ value, issues }) => {
    const problem = slugProblem(value)
    if (problem !== undefined) issues.push(illFormedSlug(value, problem))
  })
  .meta({ description: 'Letters, digits, _ . and -; at most 200 characters.' })

function illFormedSlug(slug: string, problem: string) {
  const message = `the slug ${shown(slug)} ${problem}`
  return { code: 'custom' as const, input: slug, message, params: { type: 'invalid_slug' } }
}

/** A version as a number or a numeric string: 1, 2, 3 … (interface 4.5). */
export const version = z
  .unknown()
  .transform((value, context): number => {
    const number = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value
    if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 1) return number
    context.addIssue({
      code: 'custom',
      message: `${shown(value)} is not a version; send a whole number from 1 on`,
      params: { type: 'invalid_version' },
    })
    return z.NEVER
  })
  .meta({ type: ['integer', 'string'], description: 'A whole number from 1 on, also as a string.' })

export const reference = z
  .object({ id: uuid.optional(), slug: slug.optional(), version: version.optional() })
  .meta({ description: '{id}, {slug} or {slug, version}.' })

/** Free-form JSON that is stored and answered exactly as sent. */
export const anyJson = (z.unknown() as unknown as z.ZodType<Json>).meta({
  description: 'Any JSON; kept exactly.',
})

export const jsonObject = z
  .custom<JsonObject>((value) => isJsonObject(value as Json), 'expected an object')
  .meta({ type: 'object', description: 'A JSON object; kept exactly, key order and numbers included.' })

/** Tags: strings, booleans, and nested objects of those (interface 1.17). */
export const tags = jsonObject.check((context) => {
  if (isTagValue(context.value)) return
  context.issues.push({
    code: 'custom',
    input: context.value,
    message: 'the values of tags are strings, booleans, or objects of those; use meta for anything else',
    params: { type: 'invalid_tags' },
  })
})

/** Each invalid tag is a problem of its own. */
const MOST_FLAGS = 1000

export const roleFlagsSchema = jsonObject
  .transform((flags, context): Record<string, boolean> => {
    const read: [string, boolean][] = []
    if (keysOf(flags).length > MOST_FLAGS) {
      context.addIssue({
        code: 'custom',
        message: `must have at most ${MOST_FLAGS} flags`,
        params: { type: 'too_big' },
      })
      return z.NEVER
    }
    for (const [name, value] of entriesOf(flags)) {
      if (value === null) continue
      if (typeof value === 'boolean') read.push([name, value])
      else {
        context.addIssue({
          code: 'custom',
          path: [name],
          message: `${shown(value)} is not true or false`,
          params: { type: 'bool_type' },
        })
      }
    }
    return Object.fromEntries(read)
  })
  .meta({ type: 'object', additionalProperties: { type: 'boolean' } })

/** A name must not be blank (interface 4.28). */
export const name = z
  .string()
  .refine((text) => text.trim() !== '', 'must not be blank; give a name, or leave it out')

/** Name, description, tags, meta and flags, for creates and commits. */
export const header = {
  name: name.optional(),
  description: z.string().optional(),
  flags: roleFlagsSchema.optional(),
  tags: tags.optional(),
  meta: jsonObject.optional(),
}

/** The same for a PUT, where null removes a value (interface 4.23). */
export const headerEdit = {
  name: name.nullish(),
  description: z.string().nullish(),
  flags: roleFlagsSchema.nullish(),
  tags: tags.nullish(),
  meta: jsonObject.nullish(),
}

/** Beside `folder` in a filter (interface 18.3). */
export const recursive = z
  .boolean()
  .meta({ description: 'Whether `folder` also means all folders below it.' })

/** The folder of an artifact (interface 18.1); the empty text is the root. */
export const folder = z
  .string()
  .check(({ value, issues }) => {
    const problem = folderProblem(value)
    if (problem === undefined) return
    const message = `the folder ${shown(value)} ${problem}`
    issues.push({ code: 'custom', input: value, message, params: { type: 'invalid_folder' } })
  })
  .meta({
    description:
      'A folder, such as `support/tier-1`: at most eight parts, compared without case. Empty is the root.',
  })

export const time = z
  .string()
  .check((context) => {
    const { value } = context
    if (
      /^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/.test(value) &&
      !Number.isNaN(Date.parse(value))
    ) {
      return
    }
    context.issues.push({
      code: 'custom',
      input: value,
      message: `${shown(value)} is not a time; send RFC 3339, such as 2026-03-01T09:30:00Z`,
      params: { type: 'datetime_parsing' },
    })
  })
  .meta({ format: 'date-time' })

export const windowing = declare(
  z.object({
    limit: z.number().int('must be a whole number').min(1, 'must be at least 1').optional(),
    order: z.enum(['ascending', 'descending'], 'must be "ascending" or "descending"').optional(),
    next: uuid.optional(),
    newest: time.optional(),
    oldest: time.optional(),
  }),
  { unused: ['interval', 'rate'] },
).meta({ description: 'Which part of a list: ascending by creation unless sent without an order.' })

/** The page of a list of named things, and its order. */
export const orderedWindowing = declare(
  windowing.extend({
    order: z.enum(LIST_ORDERS, `must be one of ${LIST_ORDERS.map((it) => `"${it}"`).join(', ')}`).optional(),
    count_total: z.boolean().optional(),
  }),
  { unused: ['interval', 'rate'] },
).meta({
  description:
    'Which part of a list, and its order: ascending by creation unless sent without an order; `newest` and `oldest` are times of creation.',
})

/** The page of a list with one order. */
export const newestFirstWindowing = windowing
  .pick({ limit: true, next: true })
  .meta({ description: 'Which part of the list, which is always newest first.' })

/** The page of a payload; the first rows if it is missing. */
export const pageWindowing = declare(
  z.object({
    limit: z.number().int('must be a whole number').min(1, 'must be at least 1').optional(),
    order: z.enum(['ascending', 'descending'], 'must be "ascending" or "descending"').optional(),
    next: z.string().min(1).optional(),
  }),
  { unused: ['newest', 'oldest', 'interval', 'rate'] },
).meta({ description: 'Which part of a payload; `next` is that of the page before.' })

/** The page of a diff's rows, which may be counted. */
export const countedWindowing = declare(pageWindowing.extend({ count_total: z.boolean().optional() }), {
  unused: ['newest', 'oldest', 'interval', 'rate'],
}).meta({
  description: 'Which part of the rows; `next` is that of the page before, and `count_total` adds `total`.',
})

/** The page of a revision's rows: from a cursor, or from a position. */
export const rowsWindowing = declare(
  pageWindowing
    .extend({
      offset: z.number().int('must be a whole number').min(0, 'must not be negative').optional(),
      count_total: z.boolean().optional(),
    })
    .check(({ value: { next, offset }, issues }) => {
      if (next === undefined || offset === undefined) return
      issues.push({
        code: 'custom',
        input: offset,
        path: ['offset'],
        message: 'must not stand beside `next`, which says a position, too; leave out one of them',
      })
    }),
  { unused: ['newest', 'oldest', 'interval', 'rate'] },
).meta({
  description:
    'Which rows: `next` is that of the page before, `offset` the number of rows before the first one; `count_total` adds `total`.',
})

/** The key of a deployment; empty means the default one. */
export const deploymentKey = z
  .string()
  .transform((text) => (text === '' ? undefined : text))
  .meta({ description: 'The key of a deployment; `<artifact slug>.revision` unless chosen.' })

export const depth = z.number().int('must be a whole number').min(1, 'must be at least 1')

/** The words of a search, with a maximum length. */
export const searchText = z.string().max(10_000, 'must have at most 10000 characters').meta({
  description:
    'Words that must all be there; "…" is a phrase, a final * a prefix, -word leaves out what has it.',
})

/** A part of an envelope: commit nothing if payload and header equal those of the latest revision (interface 4.18). */
export const IF_CHANGED = {
  names: ['if_changed'],
  schema: z.boolean().meta({
    description: 'Commits nothing where data and header are what the latest revision says already.',
  }),
} as const

/** A control character that git cannot store in a commit message is refused here, with its field. */
export const message = z.string().refine((text) => !text.includes('\0'), 'must not hold the character NUL')

/** A value in a sentence, shortened. */
export function shown(value: unknown): string {
  // The value was read from JSON, or is undefined.
  return value === undefined ? 'nothing' : boundedJson(value as Json, 80)
}

function isTagValue(value: Json): boolean {
  if (typeof value === 'string' || typeof value === 'boolean') return true
  if (!isJsonObject(value)) return false
  const members = value instanceof Map ? [...value.values()] : Object.values(value)
  return members.every(isTagValue)
}
