import { findEmbeds } from '../embeds/find-embeds.ts'
import { HandlerFailure } from '../handlers/handler-failure.ts'
import { getKey, isJsonObject, type JsonObject } from '../json/json.ts'
import { compileSchema, type SchemaCheck } from '../resources/workflows/compile-schema.ts'
import type { Revision } from '../versioning/revision.ts'
import type { InlineRevision } from './invocation-request.ts'

/** A workflow that can be asked to run: its data, and which revision it is of, if it is stored. */
export interface Runnable {
  /** `{}` where a handler is asked for that needs no workflow. */
  readonly data: JsonObject
  readonly stored?: Revision | undefined
  readonly inline?: InlineRevision | undefined
}

const holding = new WeakMap<JsonObject, boolean>()

/** Whether something has to be put in the place of tokens before the data can run; looked for once a revision. */
export function holdsEmbeds(data: JsonObject): boolean {
  let holds = holding.get(data)
  if (holds === undefined) holding.set(data, (holds = findEmbeds(data).length > 0))
  return holds
}

/**
 * The check of what goes into a workflow or comes out of it, undefined where its data has no schema for it. Compiled once a revision.
 * Fails with `invalid_parameters` on a schema that looks like one but cannot be used.
 */
export function schemaCheck(data: JsonObject, part: 'inputs' | 'outputs'): SchemaCheck | undefined {
  const schemas = getKey(data, 'schemas')
  const schema = isJsonObject(schemas) ? getKey(schemas, part) : undefined
  if (!isJsonObject(schema)) return undefined
  const known = checks.get(schema)
  if (known) return known
  try {
    const check = compileSchema(schema, part)
    checks.set(schema, check)
    return check
  } catch (error) {
    throw new HandlerFailure(
      'v0:schemas:invalid-parameters',
      `The workflow's schemas.${part} cannot be used: ${error instanceof Error ? error.message : String(error)}. Commit one that can.`,
    )
  }
}

const checks = new WeakMap<JsonObject, SchemaCheck>()
