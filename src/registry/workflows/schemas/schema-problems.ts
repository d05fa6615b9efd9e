import { type ErrorObject, type Options, type ValidateFunction, Ajv } from 'ajv'
import Ajv04 from 'ajv-draft-04'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createRequire } from 'node:module'
import {
  type JsonObject,
  getKey,
  type Json,
  entriesOf,
  isJsonArray,
  isJsonObject,
  plainJson,
} from '../../../base/json.ts'
import { DRAFT_2020_12 } from './object-schema.ts'

/**
 * What keeps an object from being a JSON Schema of the draft its `$schema` names (2020-12 if it names none): its first
 * wrong place, and every pattern that is no regular expression. The schema is only looked at: never compiled, and no
 * reference in it is followed (interface 7.6).
 */
export function schemaProblems(schema: JsonObject): readonly SchemaProblem[] {
  const draft = draftOf(schema)
  if (draft === undefined) {
    const named = getKey(schema, '$schema') ?? null
    const known = [...drafts.values()].map(({ metaSchema }) => metaSchema).join(', ')
    const message = `${JSON.stringify(plainJson(named))} is not a draft this service knows; use one of ${known}, or leave $schema out for the first`
    return [{ path: ['$schema'], message }]
  }
  const validate = metaValidator(draft)
  const isValid = validate(plainJson(schema)) === true
  return [...(isValid ? [] : byPlace(validate.errors ?? [])), ...patternProblems(schema)]
}

/** The draft that a schema is written in; undefined if it names one that this service does not know. */
export function draftOf(schema: JsonObject): SchemaDraft | undefined {
  const named = getKey(schema, '$schema') ?? DRAFT_2020_12
  return typeof named === 'string' ? drafts.get(draftName(named)) : undefined
}

/** An identifier of a draft without what people write differently: the scheme and an empty fragment. */
function draftName(uri: string): string {
  return uri.replace(/^https?:\/\//, '').replace(/#$/, '')
}

/** A draft, and what compiles schemas of it; its meta-schema takes tens of milliseconds and so waits for the first use. */
export interface SchemaDraft {
  readonly metaSchema: string
  readonly create: (more?: Options) => Ajv
}

/** Without `allErrors`: ajv takes quadratic time to gather them, 20 s for a schema of a few megabytes made for that. */
const options: Options = {
  // also lets a limit past the range of a double be a number
  strict: false,
  logger: false,
}

const allDrafts: readonly SchemaDraft[] = [
  { metaSchema: DRAFT_2020_12, create: (more) => new Ajv2020({ ...options, ...more }) },
  {
    metaSchema: 'https://json-schema.org/draft/2019-09/schema',
    create: (more) => new Ajv2019({ ...options, ...more }),
  },
  {
    metaSchema: 'http://json-schema.org/draft-07/schema',
    create: (more) => new Ajv({ ...options, ...more }),
  },
  { metaSchema: 'http://json-schema.org/draft-06/schema', create: draft06 },
  // the package is CommonJS, so its default export is a member of what Node imports
  {
    metaSchema: 'http://json-schema.org/draft-04/schema',
    create: (more) => new Ajv04.default({ ...options, ...more }),
  },
]

const drafts: ReadonlyMap<string, SchemaDraft> = new Map(
  allDrafts.map((draft) => [draftName(draft.metaSchema), draft]),
)

/** ajv's class for draft-07 knows draft-06 once it is given its meta-schema. */
function draft06(more?: Options): Ajv {
  const metaSchema: object = createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json')
  return new Ajv({ ...options, ...more }).addMetaSchema(metaSchema)
}

const compiled = new Map<SchemaDraft, ValidateFunction>()

function metaValidator(draft: SchemaDraft): ValidateFunction {
  const known = compiled.get(draft)
  if (known !== undefined) return known
  const made = draft.create().getSchema(draft.metaSchema)
  if (made === undefined) throw new Error(`ajv has no meta-schema ${draft.metaSchema}`)
  compiled.set(draft, made)
  return made
}

/** One problem a place: where a meta-schema offers several forms, ajv complains once about each and then of all. */
function byPlace(errors: readonly ErrorObject[]): readonly SchemaProblem[] {
  const messages = new Map<string, Set<string>>()
  for (const error of errors) {
    const found = messages.get(error.instancePath) ?? new Set()
    if (!combining.includes(error.keyword)) found.add(sentence(error))
    messages.set(error.instancePath, found)
  }
  return [...messages]
    .filter(([, found]) => found.size > 0)
    .map(([pointer, found]) => ({ path: pointerPath(pointer), message: [...found].join(', or ') }))
}

/** Keywords that only sum up what their branches complained about. */
const combining: readonly string[] = ['anyOf', 'allOf', 'oneOf', 'if', '$ref', '$dynamicRef', '$recursiveRef']

function sentence(error: ErrorObject): string {
  if (error.keyword === 'enum') return `must be one of ${JSON.stringify(error.params['allowedValues'])}`
  return error.message ?? `breaks "${error.keyword}"`
}

/** The steps of a JSON Pointer (RFC 6901). */
function pointerPath(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** So many characters the patterns of a schema may have in all: one costs more to compile than to send. */
const MOST_PATTERN = 100_000

/**
 * The patterns in a JSON Schema that are no regular expressions of JavaScript (interface 7.6), wherever a subschema can be.
 * A meta-schema asks for this by `format`, which ajv leaves out of account there.
 */
function patternProblems(schema: Json): readonly SchemaProblem[] {
  const patterns = patternsOf(schema, [])
  if (patterns.reduce((sum, { pattern }) => sum + pattern.length, 0) > MOST_PATTERN) {
    return [{ path: [], message: `must have patterns of at most ${MOST_PATTERN} characters in all` }]
  }
  return patterns
    .filter(({ pattern }) => !isPattern(pattern))
    .map(({ pattern, path }) => ({
      path,
      message: `${JSON.stringify(pattern)} is not a regular expression that JavaScript can read`,
    }))
}

interface Pattern {
  readonly pattern: string
  readonly path: readonly (string | number)[]
}

function patternsOf(schema: Json, path: readonly (string | number)[]): readonly Pattern[] {
  if (!isJsonObject(schema)) return []
  return entriesOf(schema).flatMap(([keyword, value]) => {
    const place = [...path, keyword]
    if (keyword === 'pattern') return typeof value === 'string' ? [{ pattern: value, path: place }] : []
    if (maps.has(keyword) && isJsonObject(value)) {
      return entriesOf(value).flatMap(([name, below]) => [
        ...(keyword === 'patternProperties' ? [{ pattern: name, path: [...place, name] }] : []),
        ...patternsOf(below, [...place, name]),
      ])
    }
    if (!subschemas.has(keyword)) return []
    if (!isJsonArray(value)) return patternsOf(value, place)
    return value.flatMap((below, index) => patternsOf(below, [...place, index]))
  })
}

/** Keywords whose value holds subschemas under names of the user's. */
const maps: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
])

/** Keywords whose value is a subschema or a list of them. */
const subschemas: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contentSchema',
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
])

/** Whether JavaScript compiles the pattern, in Unicode mode or in the older one that forgives more escapes. */
function isPattern(pattern: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      new RegExp(pattern, flags)
      return true
    } catch {
      return false
    }
  })
}

/** What is wrong with one place of a JSON Schema; `path` leads there from the schema's root. */
interface SchemaProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}
