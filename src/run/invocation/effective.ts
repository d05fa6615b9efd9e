import { basename } from 'node:path'
import { resolveEmbeds, holdsEmbed, registryTargets } from '../../registry/embeds.ts'
import { Refusal } from '../../errors.ts'
import { HandlerFailure, invalidParameters } from '../handlers/handler-failure.ts'
import { checkSchema } from '../handlers/worker/check-schema.ts'
import type { WorkerCaller } from '../handlers/worker/long-jobs.ts'
import { handlerTable } from '../handlers/workflows.ts'
import { equalJson, getKey, getPath, isJsonObject, type JsonObject, keysOf } from '../../base/json.ts'
import { compileSchema, type SchemaCheck, handlerOf, isManaged } from '../../registry/workflows.ts'
import { documentOf } from '../../registry/families.ts'
import type { Registry } from '../../registry/registries.ts'
import type { Revision } from '../../registry/revisions.ts'
import type { InlineRevision, InvocationRequest } from './invocation-request.ts'

/** A workflow that can be run: its data, and its revision if it is stored. */
export interface Runnable {
  /** `{}` for a handler that runs without a workflow. */
  readonly data: JsonObject
  readonly stored?: Revision | undefined
  readonly inline?: InlineRevision | undefined
}

/** The key of the handler for the data. Data with a url and without a key belongs to a hook. */
export function handlerKeyOf(data: JsonObject): string | undefined {
  const uri = handlerOf(data)
  if (isManaged(uri)) return uri.key
  return uri && typeof getKey(data, 'url') === 'string' ? 'hook' : undefined
}

/** The data's schema for inputs, outputs or parameters, if it has one. */
export function schemaOf(
  data: JsonObject,
  part: 'inputs' | 'outputs' | 'parameters',
): JsonObject | undefined {
  const schema = getPath(data, 'schemas', part)
  return isJsonObject(schema) ? schema : undefined
}

/** The data to run, and its parameters. */
export interface Effective {
  readonly data: JsonObject
  readonly parameters: JsonObject
}

/** The parameters of the request merged over those of the workflow. Embeds in both are resolved, unless `flags.resolve` is false. */
export async function effective(
  registry: Registry,
  request: Pick<InvocationRequest, 'parameters' | 'flags' | 'caller'>,
  runnable: Runnable,
): Promise<Effective> {
  const { parameters: sent, flags } = request
  const { data } = runnable
  const own = sent && keysOf(sent).length > 0 ? sent : undefined
  const isResolved = flags === undefined || getKey(flags, 'resolve') !== false
  if (isResolved && (holdsEmbed(data) || (own && holdsEmbed(own))))
    return resolved(registry, request, runnable, own)
  return { data, parameters: own ?? parametersOf(data) }
}

async function resolved(
  registry: Registry,
  { caller }: Pick<InvocationRequest, 'caller'>,
  { data, stored, inline }: Runnable,
  own: JsonObject | undefined,
): Promise<Effective> {
  const host = stored && { id: stored.id, slug: stored.slug }
  const whole = await resolve(data, inline !== undefined)
  if (!own) return { data: whole, parameters: parametersOf(whole) }
  // under the name `parameters`, so that errors name the place in the request
  const brought = getKey(await resolve({ parameters: own }, true), 'parameters')
  if (!isJsonObject(brought)) throw invalidParameters('dict', brought)
  return { data: whole, parameters: brought }

  async function resolve(value: JsonObject, isBrought: boolean): Promise<JsonObject> {
    if (!holdsEmbed(value)) return value
    if (isBrought && !caller.mayRead) {
      throw new Refusal(
        'missing_scope',
        'The request brings text that points at stored workflows, which takes a key with the scope read. Refer to a stored revision, or set flags.resolve to false.',
      )
    }
    return (await resolveEmbeds(value, registryTargets(registry), { ...LIMITS, host })).data
  }
}

/** The limits of a retrieve (interface 12.2). */
const LIMITS = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' } as const

function parametersOf(data: JsonObject): JsonObject {
  const parameters = getKey(data, 'parameters')
  return isJsonObject(parameters) ? parameters : NO_PARAMETERS
}

const NO_PARAMETERS: JsonObject = {}

/** A problem that would make a run fail; the data may be committed all the same. */
export interface InspectionWarning {
  readonly code: string
  readonly message: string
  readonly target: readonly (string | number)[]
}

/** A problem as a warning of `inspect`. */
export function warned(code: string, message: string): InspectionWarning {
  return { code, message, target: ['parameters'] }
}

/**
 * The `schemaViolation` of newly committed data, with its embeds resolved if it `embeds` any. A stored commit does not fail because of this check (interface 7.18):
 * if an embed points at nothing, which has its own warning, or if the check cannot be made now, there is no warning.
 */
export async function committedViolation(
  registry: Registry,
  data: JsonObject,
  embeds: boolean,
): Promise<readonly InspectionWarning[]> {
  const implied = impliedSchema(data)
  if (implied && !embeds) return checkImplied(implied, parametersOf(data))
  return schemaOf(data, 'parameters') ? violationWhenWhole(registry, data) : []
}

/** The same for data that embeds something, or whose schema is its author's, which may be slow to check. */
async function violationWhenWhole(
  registry: Registry,
  data: JsonObject,
): Promise<readonly InspectionWarning[]> {
  const project = basename(registry.store.folder)
  try {
    const whole = await effective(registry, { caller: READER }, { data })
    return await schemaViolation(whole, { project, untilGone: () => NEVER, isPatient: false })
  } catch (error) {
    if (error instanceof Refusal) return []
    if (error instanceof HandlerFailure) return [warned('schema_violation', error.message)]
    throw error
  }
}

/** Embeds are resolved for every sender: http/routing/answers.ts withholds warnings from a key that may not read. */
const READER = { mayRead: true, mayWrite: false }

/** The commit is stored even if the client is gone, and the check has its own time limit. */
const NEVER = new AbortController().signal

/**
 * Answers where a workflow's parameters violate their schema; undefined if they have none. Fails as `checkSchema` does if the schema cannot
 * be used or the check cannot be made.
 */
export async function schemaViolation(
  { data, parameters }: Effective,
  caller: WorkerCaller,
): Promise<readonly InspectionWarning[]> {
  const schema = schemaOf(data, 'parameters')
  if (!schema) return []
  const implied = impliedSchema(data)
  return implied
    ? checkImplied(implied, parameters)
    : violations(await checkSchema(schema, 'parameters', parameters, caller))
}

/**
 * Where outputs violate the schema that an evaluator has for them; undefined if they do not. Fails as `checkSchema` does if the schema cannot
 * be used.
 */
export async function outputsViolation(
  evaluator: Revision,
  outputs: JsonObject,
  caller: WorkerCaller,
): Promise<string | undefined> {
  const { payload } = evaluator.stored
  const schema = payload && schemaOf(documentOf(payload), 'outputs')
  return schema && checkSchema(schema, 'outputs', outputs, caller)
}

/** The handler's own schema for parameters, where that is what the data has for them. */
function impliedSchema(data: JsonObject): JsonObject | undefined {
  const implied = handlerTable.find(handlerOf(data))?.schemas?.parameters
  const schema = schemaOf(data, 'parameters')
  return implied && schema && (schema === implied || equalJson(schema, implied)) ? implied : undefined
}

/** Compiled checks of our own schemas, which are known to be quick. */
const checks = new WeakMap<JsonObject, SchemaCheck>()

function checkImplied(schema: JsonObject, parameters: JsonObject): readonly InspectionWarning[] {
  const check = checks.get(schema) ?? compileSchema(schema, 'parameters')
  checks.set(schema, check)
  return violations(check(parameters))
}

function violations(broken: string | undefined): readonly InspectionWarning[] {
  return broken === undefined
    ? []
    : [warned('schema_violation', `The parameters break their schema: ${broken}`)]
}
