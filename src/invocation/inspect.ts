import { handlerTable } from '../handlers/workflows.ts'
import { getKey, isJsonObject, withKey, type JsonObject } from '../json/json.ts'
import { handlerOf, parseHandlerUri } from '../resources/workflows/handler-uri.ts'
import type { Registry } from '../versioning/registry.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import { findRunnable, type WorkflowSought } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'

/** A workflow as whoever wants to invoke it needs to know it. */
export interface Inspection {
  /** Its data; the schemas of its handler where it has none of its own. */
  readonly data: JsonObject
  readonly stored: Revision | undefined
}

/** What an invocation would run (contract/handlers 4.6): the handler's own interface where nothing else is named. */
export async function inspect(
  registry: Registry,
  request: WorkflowSought & Pick<InvocationRequest, 'key'>,
): Promise<Inspection> {
  const { data, stored } = await findRunnable(registry, request)
  const named = getKey(data, 'uri') === undefined && request.key !== undefined
  const whole = named
    ? withKey(data, 'uri', parseHandlerUri(request.key) ? handlerTable.uriOf(request.key) : request.key)
    : data
  const own = handlerTable.find(handlerOf(whole))?.schemas
  const sent = getKey(whole, 'schemas')
  const schemas: JsonObject = { ...own, ...(isJsonObject(sent) ? sent : {}) }
  return { data: own ? withKey(whole, 'schemas', schemas) : whole, stored }
}
