import { holdsEmbed } from '../embeds/syntax/find-embeds.ts'
import { getKey, isJsonObject, type JsonObject } from '../json/json.ts'
import { handlerOf, isManaged } from '../resources/workflows/workflow-handlers.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
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
export function holdsEmbeds(data: JsonObject): boolean | Promise<boolean> {
  return holding.get(data) ?? look(data)
}

async function look(data: JsonObject): Promise<boolean> {
  const holds = await holdsEmbed(data)
  holding.set(data, holds)
  return holds
}

const handlerKeys = new WeakMap<JsonObject, { readonly key: string | undefined }>()

/** The key of the handler that runs the data, read once a revision. Data that says no key but a url is a hook's. */
export function handlerKeyOf(data: JsonObject): string | undefined {
  let known = handlerKeys.get(data)
  if (known === undefined) handlerKeys.set(data, (known = { key: readHandlerKey(data) }))
  return known.key
}

function readHandlerKey(data: JsonObject): string | undefined {
  const uri = handlerOf(data)
  if (isManaged(uri)) return uri.key
  return uri && typeof getKey(data, 'url') === 'string' ? 'hook' : undefined
}

/** The schema that the data has for what goes in or comes out, or for its parameters, if it has one. */
export function schemaOf(
  data: JsonObject,
  part: 'inputs' | 'outputs' | 'parameters',
): JsonObject | undefined {
  const schemas = getKey(data, 'schemas')
  const schema = isJsonObject(schemas) ? getKey(schemas, part) : undefined
  return isJsonObject(schema) ? schema : undefined
}
