import fc from 'fast-check'
import type { JsonSchema } from '../../../../test/support/clients/api-document.ts'
import { arbitraryJunk, arbitraryJunkObject, arbitraryText } from './arbitrary-junk.ts'
import { arbitraryFiltering, arbitraryPayload } from './arbitrary-payload.ts'
import { calmPayload } from '../calm-payload.ts'
import type { KnownThings } from '../known-things.ts'

export interface ValueContext {
  /** The named schemas of the document. */
  readonly schemas: Readonly<Record<string, JsonSchema>>
  readonly known: KnownThings
  /** The path of the operation, whose first words name the surface. */
  readonly path: string
  /** Without junk: such as a client of good will would send, so that more than the first door is tried. */
  readonly isCalm: boolean
}

/** What kind of thing the ids below a name are of: `application_variant` for `application_variant_refs`. */
export function kindOf(name: string): string {
  return name.replace(/_(ref|refs|id|ids|slug|slugs|commit)$/, '')
}

/**
 * Values of a schema: mostly valid, with the ids of things that exist where `name` says of what, now and then anything at all. Where
 * a schema says nothing, the names that the interface gives a meaning get what they are for.
 */
export function arbitraryValue(
  schema: JsonSchema,
  context: ValueContext,
  name = '',
  depth = 0,
): fc.Arbitrary<unknown> {
  const valid = arbitraryValid(schema, context, name, depth)
  if (context.isCalm) return valid
  return fc.oneof({ weight: 60, arbitrary: valid }, { weight: 1, arbitrary: arbitraryJunk })
}

function arbitraryValid(
  schema: JsonSchema,
  context: ValueContext,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  const { $ref, anyOf } = schema
  if ($ref !== undefined) {
    const target = $ref.split('/').at(-1) ?? ''
    if (target === 'Reference') {
      // What a diff compares is the surface's revisions.
      const isSide = name === 'base' || name === 'head'
      return arbitraryReference(context, isSide ? `${surfaceOf(context.path)}_revision` : kindOf(name))
    }
    return arbitraryValid(context.schemas[target] ?? {}, context, name, depth)
  }
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (anyOf) return fc.oneof(...anyOf.map((it) => arbitraryValid(it, context, name, depth)))
  if (name === 'data' || name === 'delta') {
    if (!schema.properties)
      return (context.isCalm ? calmPayload : arbitraryPayload)(context.path, name, context.known)
  }
  if (name === 'filtering' && !context.isCalm) return arbitraryFiltering
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length === 0) return context.isCalm ? fc.constant({}) : arbitraryJunk
  return fc.oneof(...types.map((type) => arbitraryOfType(type, schema, context, name, depth)))
}

function arbitraryOfType(
  type: string,
  schema: JsonSchema,
  context: ValueContext,
  name: string,
  depth: number,
): fc.Arbitrary<unknown> {
  switch (type) {
    case 'object':
      if (schema.properties) return arbitraryObject(schema.properties, schema.required ?? [], context, depth)
      if (context.isCalm) return fc.constant({})
      return arbitraryJunkObject(
        typeof schema.additionalProperties === 'object'
          ? arbitraryValue(schema.additionalProperties, context, '', depth + 1)
          : arbitraryJunk,
      )
    case 'array':
      return fc.array(arbitraryValue(schema.items ?? {}, context, name, depth + 1), { maxLength: 3 })
    case 'integer':
    case 'number': {
      const { minimum = -5, maximum = 1000 } = schema
      const within = fc.integer({ min: Math.max(minimum, -1000), max: Math.min(maximum, 1000) })
      if (context.isCalm) return within
      return fc.oneof(
        { weight: 8, arbitrary: within },
        { weight: 1, arbitrary: fc.constantFrom(-1, 0, 2 ** 53) },
      )
    }
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return arbitraryString(schema, context, name)
  }
}

function arbitraryString({ format }: JsonSchema, context: ValueContext, name: string): fc.Arbitrary<string> {
  const { known, isCalm } = context
  if (format === 'uuid' || /_ids?$/.test(name)) return arbitraryId(context, kindOf(name))
  if (/^(template|type|preset)$/.test(name)) return fc.nat().map((at) => known.some(name, at)?.slug ?? 'x')
  if (name === 'version') return fc.constant('v0')
  if (name === 'deploy') return fc.constantFrom('staging', 'development')
  if (isCalm && format === 'date-time') return fc.constant('2026-01-01T00:00:00Z')
  if (isCalm && format === 'uri') return fc.constant('https://hooks.example.org/x')
  if (isCalm && /slugs?$/.test(name)) return calmSlug
  if (isCalm && name === 'key' && /\/services/.test(context.path))
    return fc.constantFrom('echo', 'auto_exact_match')
  if (isCalm) return fc.constantFrom('a', 'bot.revision', 'some words')
  if (format === 'date-time')
    return fc.constantFrom('2026-01-01T00:00:00Z', '2027-01-01T00:00:00.000Z', 'then')
  if (format === 'uri')
    return fc.constantFrom('https://hooks.example.org/x', 'http://127.0.0.1/', 'file:///', 'x')
  if (/slug/.test(name)) return arbitrarySlug
  return arbitraryText
}

const calmSlug = fc.integer({ min: 1, max: 100_000 }).map((number) => `thing-${number}`)

/** Few enough that they are taken again and again; and some that are none. */
const arbitrarySlug = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 400 }).map((number) => `thing-${number}`) },
  { weight: 1, arbitrary: fc.constantFrom('a.b', 'A', 'x'.repeat(200), 'production', 'HEAD') },
  { weight: 1, arbitrary: arbitraryText },
)

/** The id of a thing of the kind, or of another one, or of nothing. */
function arbitraryId({ known, isCalm }: ValueContext, kind: string): fc.Arbitrary<string> {
  return fc.tuple(fc.nat(), fc.nat(40), fc.uuid()).map(([at, wild, none]) => {
    const dice = isCalm ? 40 : wild
    if (dice === 0) return none
    const own = known.some(kind, at)?.id
    // "variant_id" and "artifact_id" mean whatever the surface has.
    const any = known.some(KINDS[at % KINDS.length] ?? '', at)?.id
    return (dice > 2 ? own : undefined) ?? any ?? none
  })
}

const KINDS = [
  'workflow',
  'workflow_variant',
  'workflow_revision',
  'testset_revision',
  'environment_variant',
  'query_variant',
  'testcase',
]

function arbitraryReference({ known, isCalm }: ValueContext, kind: string): fc.Arbitrary<unknown> {
  return fc.tuple(fc.nat(), fc.nat(20), arbitraryJunk).map(([at, wild, junk]) => {
    const dice = isCalm ? 2 + (wild % 7) : wild
    const thing = known.some(kind, at)
    if (dice === 0) return junk
    if (!thing || dice === 1) return { slug: `thing-${at % 400}` }
    if (dice < 9) return { id: thing.id }
    if (dice < 16) return { slug: thing.slug }
    return { slug: thing.slug, version: dice === 16 ? 1 : dice === 17 ? at % 5 : thing.version }
  })
}

/**
 * An object with some of its members. Most have one of several spellings, of which more than one contradict each other: the surface's
 * own are there more often than the others.
 */
function arbitraryObject(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
  context: ValueContext,
  depth: number,
): fc.Arbitrary<unknown> {
  const surface = surfaceOf(context.path)
  const members = Object.entries(properties).map(([key, schema]) => {
    const often = required.includes(key) ? 40 : chanceOf(key, surface, context)
    const value = depth > 6 ? fc.constant(null) : arbitraryValue(schema, context, key, depth + 1)
    return fc.tuple(fc.constant(key), fc.integer({ min: 0, max: 40 }), value).map(([name, dice, made]) => {
      return dice <= often ? ([name, made] as const) : undefined
    })
  })
  return fc.tuple(...members).map((made) => Object.fromEntries(made.filter((it) => it !== undefined)))
}

/** How often a member is there, out of 40. */
function chanceOf(key: string, surface: string, { isCalm, path }: ValueContext): number {
  const rarely = isCalm ? -1 : 1
  if (key === 'data') return 36
  if (/^(name|description|message|include_\w+|inputs|outputs|resolve|revision)$/.test(key)) return 16
  if (key === 'slug') return isCalm ? 38 : 20
  if (key === 'base' || key === 'head' || (key === 'environment_ref' && path.endsWith('/deploy'))) return 36
  const family = /^(workflow|application|evaluator|testset|environment|query)/.exec(key)?.[1]
  if (family === undefined) return isCalm ? 2 : 6
  // The routes of no surface, such as evaluations, name what they are about.
  if (!FAMILIES.includes(surface))
    return /^(testset|application|evaluator)_revision_refs?$/.test(key) ? 34 : rarely
  if (family !== surface) return rarely
  if (key === `${family}_revision_commit`) return 36
  if (key === family) return 28
  if (isCalm && key.endsWith('_id'))
    return key === `${family}_variant_id` || path.endsWith('/variants') ? 36 : 1
  return /_variant(_id|_ref)?$/.test(key) ? 28 : 4
}

const FAMILIES = ['workflow', 'application', 'evaluator', 'testset', 'environment', 'query']

function surfaceOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'simple' && word !== 'services')
  return (words[0] ?? '').replace(/ies$/, 'y').replace(/s$/, '')
}
