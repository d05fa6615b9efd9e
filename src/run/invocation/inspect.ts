import { Refusal } from '../../errors.ts'
import { HandlerFailure } from '../handlers/handler-failure.ts'
import { parameterProblems } from '../handlers/prompts/parameter-problems.ts'
import { handlerTable } from '../handlers/workflows.ts'
import { getKey, isJsonObject, withKey, type JsonObject } from '../../base/json.ts'
import { handlerOf, parseHandlerUri } from '../../registry/workflows.ts'
import type { Registry } from '../../registry/registries.ts'
import type { Revision } from '../../registry/revisions.ts'
import { findRunnable, type FoundRunnable, type WorkflowSought } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'
import type { InvocationServices } from './invoke.ts'
import { effective, handlerKeyOf, type InspectionWarning, schemaViolation, warned } from './effective.ts'

/** A workflow, described for clients that want to invoke it. */
export interface Inspection {
  /** Its data, with its handler's schemas if it has none of its own. */
  readonly data: JsonObject
  readonly stored: Revision | undefined
  /**
   * Problems that make every run fail, and parameters that violate their own schema; places are from the top
   * of `data`.
   */
  readonly warnings: readonly InspectionWarning[]
}

/** Describes what an invocation would run (interface 12.6): by default the handler's own interface. */
export async function inspect(
  registry: Registry,
  request: WorkflowSought & Pick<InvocationRequest, 'key' | 'caller' | 'untilGone'>,
  services: Pick<InvocationServices, 'reach'>,
): Promise<Inspection> {
  const found = await findRunnable(registry, request)
  const { data, stored } = found
  const named = getKey(data, 'uri') === undefined && request.key !== undefined
  const whole = named
    ? withKey(data, 'uri', parseHandlerUri(request.key) ? handlerTable.uriOf(request.key) : request.key)
    : data
  const own = handlerTable.find(handlerOf(whole))?.schemas
  const sent = getKey(whole, 'schemas')
  const schemas: JsonObject = { ...own, ...(isJsonObject(sent) ? sent : {}) }
  const warnings = await warningsOf(registry, request, services, found)
  return { data: own ? withKey(whole, 'schemas', schemas) : whole, stored, warnings }
}

/**
 * The warnings about the data with resolved embeds; an embed that cannot be resolved would fail a run first.
 */
async function warningsOf(
  registry: Registry,
  { caller, untilGone }: Pick<InvocationRequest, 'caller' | 'untilGone'>,
  services: Pick<InvocationServices, 'reach'>,
  found: FoundRunnable,
): Promise<readonly InspectionWarning[]> {
  if (getKey(found.data, 'parameters') === undefined) return []
  try {
    const { data, parameters } = await effective(registry, { caller }, found)
    const { project, models } = services.reach(registry)
    const asking = { project, untilGone, isPatient: false }
    const key = handlerKeyOf(data)
    return [
      ...(await schemaViolation({ data, parameters }, asking)),
      ...(await parameterProblems(key, parameters, models)),
    ]
  } catch (error) {
    if (error instanceof HandlerFailure) return [warned('schema_violation', error.message)]
    if (error instanceof Refusal && error.code !== 'overloaded') return [warned(error.code, error.message)]
    throw error
  }
}
