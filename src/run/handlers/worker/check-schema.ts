import {
  isLight,
  entriesOf,
  isJsonArray,
  isJsonObject,
  type Json,
  type JsonObject,
  stringifyJson,
} from '../../../base/json.ts'
import { compileSchema, type SchemaCheck } from '../../../registry/workflows.ts'
import { HandlerFailure } from '../handler-failure.ts'
import { workerPool, type WorkerCaller } from './long-jobs.ts'

/** The time limit for compiling a schema and validating a value. */
export const SCHEMA_LIMIT_MS = 2000

/** A schema of at most this many characters compiles in a few milliseconds … */
const SHORT_SCHEMA = 4000
/** … and with only these keywords, each part of it is applied to a value once: there are no references and no alternatives. */
const PLAIN_WORDS = new Set([
  ...['type', 'required', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['multipleOf', 'minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'],
  ...['$schema', '$id', '$comment', 'title', 'description', 'default', 'examples', 'deprecated'],
  ...['readOnly', 'writeOnly'],
])
/** The values of these keywords are schemas … */
const WORDS_OF_SCHEMAS = new Set(['additionalProperties', 'items', 'additionalItems', 'prefixItems'])
/** … and those of these are objects of schemas. */
const WORDS_OF_NAMES = new Set(['properties', '$defs', 'definitions'])

/**
 * Validates a value against a workflow's schema for its inputs or outputs; answers where it fails, or undefined. Users write these schemas,
 * and a small one can take years: unless it is certainly quick, it is checked in a worker, for at most two seconds. Fails with
 * `invalid_parameters` if the schema cannot be used, or not in that time; refuses as `WorkerPool` does.
 */
export function checkSchema(
  schema: JsonObject,
  part: string,
  value: Json,
  caller: WorkerCaller,
): string | undefined | Promise<string | undefined> {
  const known = quick.get(schema) ?? learn(schema)
  if (!known.isPlain || !isLight(value)) return checkInWorker(schema, part, value, caller)
  try {
    known.check ??= compileSchema(schema, part)
  } catch (error) {
    throw unusable(part, error instanceof Error ? error.message : String(error))
  }
  return known.check(value)
}

interface Known {
  readonly isPlain: boolean
  check?: SchemaCheck
}

const quick = new WeakMap<JsonObject, Known>()

function learn(schema: JsonObject): Known {
  const known = { isPlain: isLight(schema) && isShort(schema) && isPlain(schema) }
  quick.set(schema, known)
  return known
}

function isShort(schema: JsonObject): boolean {
  return stringifyJson(schema).length <= SHORT_SCHEMA
}

/** Whether a schema, or each of several, has only those keywords; an unknown keyword may be slow. */
function isPlain(schema: Json): boolean {
  if (isJsonArray(schema)) return schema.every(isPlain)
  if (!isJsonObject(schema)) return true
  return entriesOf(schema).every(([word, value]) => {
    if (WORDS_OF_SCHEMAS.has(word)) return isPlain(value)
    if (WORDS_OF_NAMES.has(word))
      return isJsonObject(value) && entriesOf(value).every(([, it]) => isPlain(it))
    return PLAIN_WORDS.has(word)
  })
}

async function checkInWorker(
  schema: JsonObject,
  part: string,
  value: Json,
  caller: WorkerCaller,
): Promise<string | undefined> {
  const job = { kind: 'schema', schema: stringifyJson(schema), part, value: stringifyJson(value) } as const
  const outcome = await workerPool.do(job, SCHEMA_LIMIT_MS, caller)
  if (outcome === 'late')
    throw unusable(
      part,
      `the check took more than ${SCHEMA_LIMIT_MS} ms (repetitions inside repetitions of a pattern, references that meet again and again)`,
    )
  if (outcome === 'abandoned')
    throw new HandlerFailure(
      'v0:schemas:invalid-parameters',
      `The ${part} were not checked: the request ended before.`,
    )
  if (outcome === 'broken') throw unusable(part, 'the check took more memory than it may')
  if ('unusable' in outcome) throw unusable(part, outcome.unusable)
  return 'problem' in outcome ? outcome.problem : undefined
}

function unusable(part: string, why: string): HandlerFailure {
  return new HandlerFailure(
    'v0:schemas:invalid-parameters',
    `The workflow's schemas.${part} cannot be used: ${why}. Commit one that can.`,
  )
}
