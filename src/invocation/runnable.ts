import { findEmbeds } from '../embeds/find-embeds.ts'
import { checkSchema } from '../handlers/measures/check-schema.ts'
import type { LongJobCaller } from '../handlers/measures/long-jobs.ts'
import { getKey, isJsonObject, type Json, type JsonObject } from '../json/json.ts'
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
 * Says where what goes into a workflow or comes out of it breaks the schema that its data has for it; undefined where it does not, or
 * there is none. Fails as `checkSchema` does.
 */
export function schemaProblem(
  data: JsonObject,
  part: 'inputs' | 'outputs',
  value: Json,
  caller: () => LongJobCaller,
): string | undefined | Promise<string | undefined> {
  const schemas = getKey(data, 'schemas')
  const schema = isJsonObject(schemas) ? getKey(schemas, part) : undefined
  return isJsonObject(schema) ? checkSchema(schema, part, value, caller()) : undefined
}
