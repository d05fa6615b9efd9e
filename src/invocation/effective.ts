import { registryTargets } from '../embeds/targets/registry-targets.ts'
import { resolveEmbeds } from '../embeds/resolve-embeds.ts'
import { Refusal } from '../errors.ts'
import { invalidParameters } from '../handlers/handler-failure.ts'
import { getKey, isJsonObject, keysOf, type JsonObject } from '../json/json.ts'
import type { Registry } from '../versioning/registry.ts'
import type { FoundRunnable } from './find-runnable.ts'
import type { InvocationRequest } from './invocation-request.ts'
import { holdsEmbeds } from './runnable.ts'

/** The data that runs, and its configuration. */
export interface Effective {
  readonly data: JsonObject
  readonly parameters: JsonObject
}

/**
 * The parameters of the request over those of the workflow, with what either embeds in its place unless `flags.resolve` is false.
 */
export function effective(
  registry: Registry,
  request: Pick<InvocationRequest, 'parameters' | 'flags' | 'caller'>,
  found: FoundRunnable,
): Effective | Promise<Effective> {
  const { parameters: sent, flags } = request
  const { data } = found
  const own = sent && keysOf(sent).length > 0 ? sent : undefined
  const wants = flags === undefined || getKey(flags, 'resolve') !== false
  const plain = { data, parameters: own ?? parametersOf(data) }
  if (!wants) return plain
  // What was looked for before is known at once, so that most runs wait for nothing here.
  const holds = holdsEmbeds(data)
  if (holds === false && !own) return plain
  return answer()

  async function answer(): Promise<Effective> {
    if ((await holds) || (own && (await holdsEmbeds(own)))) return resolved(registry, request, found, own)
    return plain
  }
}

async function resolved(
  registry: Registry,
  { caller }: Pick<InvocationRequest, 'caller'>,
  { data, stored, inline }: FoundRunnable,
  own: JsonObject | undefined,
): Promise<Effective> {
  const host = stored && { id: stored.id, slug: stored.slug }
  const whole = await resolve(data, inline !== undefined)
  if (!own) return { data: whole, parameters: parametersOf(whole) }
  // below their name, so that what is wrong with one is told by where the request has it
  const brought = getKey(await resolve({ parameters: own }, true), 'parameters')
  if (!isJsonObject(brought)) throw invalidParameters('dict', brought)
  return { data: whole, parameters: brought }

  async function resolve(value: JsonObject, isBrought: boolean): Promise<JsonObject> {
    if (!(await holdsEmbeds(value))) return value
    if (isBrought && !caller.mayRead) {
      throw new Refusal(
        'missing_scope',
        'The request brings text that points at stored workflows, which takes a key with the scope read. Refer to a stored revision, or set flags.resolve to false.',
      )
    }
    return (await resolveEmbeds(value, registryTargets(registry), { ...LIMITS, host })).data
  }
}

function parametersOf(data: JsonObject): JsonObject {
  const parameters = getKey(data, 'parameters')
  return isJsonObject(parameters) ? parameters : NO_PARAMETERS
}

/** As a retrieve resolves (interface 12.2). */
const LIMITS = { maxDepth: 10, maxEmbeds: 100, errorPolicy: 'exception' } as const

const NO_PARAMETERS: JsonObject = {}
