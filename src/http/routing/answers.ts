import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { Refusal, type RefusalCode } from '../../errors.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import { deployments } from '../schemas/deployments.ts'
import { isOfOthers } from '../request.ts'
import type { SurfaceContext } from '../surface-context.ts'
import type { Call, Endpoint, EndpointResponse } from './endpoint.ts'

/**
 * Runs an endpoint and adapts its answer to the caller. With `Prefer: return=minimal` the answer to a write has only ids, slugs and versions; a
 * key without the scope `read` gets only those, too. A refusal uses the words of its surface, with suggestions for keys that may read (interface
 * 3.13). If nothing is found, clients of the existing service get its form of answer (`isExisting`). `run` calls the endpoint, or recalls its
 * first result.
 */
export async function answerTo(
  endpoint: Endpoint,
  call: Call<never>,
  isExisting: boolean,
  run: (call: Call<never>) => EndpointResponse | Promise<EndpointResponse> = endpoint.run,
): Promise<EndpointResponse> {
  try {
    const answer = await run(call)
    const preferred = call.headers.prefer === undefined ? answer : preferredOf(endpoint, call.headers, answer)
    return call.caller.may.read || showsAll(endpoint) ? preferred : withheldOf(endpoint, preferred)
  } catch (error) {
    return orNothing(endpoint, call, error, isExisting)
  }
}

async function orNothing(
  endpoint: Endpoint,
  call: Call<never>,
  error: unknown,
  isExisting: boolean,
): Promise<EndpointResponse> {
  const nothing = isExisting ? nothingFound(endpoint, error) : undefined
  if (nothing) return nothing
  throw await told(endpoint, call, error)
}

/** The endpoint as the OpenAPI document shows it, with the other answers that `answerTo` may make of it. */
export function withAnswers(endpoint: Endpoint, isExisting: boolean): Endpoint {
  const { output, alsoAnswers = [] } = endpoint
  return {
    ...endpoint,
    output: isExisting && answersNothing(endpoint) ? z.union([output, NOTHING]) : output,
    alsoAnswers: [
      ...alsoAnswers,
      ...(isCutDown(endpoint) ? [minimalAnswer] : []),
      ...(showsAll(endpoint) ? [] : [withheldAnswer]),
    ],
  }
}

/** The endpoints of a surface, whose refusals use the words of that surface. */
export function inWordsOf(context: SurfaceContext, endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.map((endpoint) => ({ ...endpoint, words: wordsOf(context) }))
}

/** The words of a surface for the things of its family. */
export function wordsOf({ surface }: SurfaceContext): NonNullable<Endpoint['words']> {
  return { family: surface.family.name, word: surface.singular }
}

/** The error in the words of the surface, with suggestions if the key may see them. */
export async function told(
  { words }: Endpoint,
  { caller }: Pick<Call<never>, 'caller'>,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof HelpfulRefusal)) return error
  const word = (family: string): string => (family === words?.family ? words.word : family)
  return error.toldTo({ word, mayRead: caller.may.read })
}

/** Whether every key that is let in may see the whole answer: only keys that may read are let in to reads. */
function showsAll(endpoint: Endpoint): boolean {
  return endpoint.showsAll === true || (endpoint.scope === 'read' && endpoint.orScope === undefined)
}

/** The answer to a key without the scope `read`. */
export const withheldAnswer = z
  .object({
    count: z.int(),
    trace_id: z.string().optional(),
    changed: z.boolean().optional(),
    deployments: deployments.optional(),
  })
  .catchall(z.record(z.string(), z.union([z.string(), z.int()])))
  .meta({ description: 'To a key without the scope `read`: ids, slugs, versions, dates and addresses' })

function withheldOf({ path }: Endpoint, answer: EndpointResponse): EndpointResponse {
  const { body, text, stream, writing, ...rest } = answer
  // A bug of the server. It is reported instead of shown.
  if (!body || text !== undefined || stream) throw new Error(`${path} answers what cannot be withheld`)
  return { ...rest, body: withheld(body) }
}

/** The ids, slugs, versions, dates and addresses of the body, and of the records in it. */
function withheld(body: object): object {
  const shown: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(body)) {
    if (isScalar(value)) {
      if (name === 'count' || IDENTITY.test(name)) shown[name] = value
    } else if (isRecord(value)) shown[name] = identityOf(value)
    else if (name === 'deployments' || name === 'changed') shown[name] = value
  }
  return shown
}

function identityOf(record: object): object {
  return Object.fromEntries(
    Object.entries(record).filter(([name, value]) => isScalar(value) && IDENTITY.test(name)),
  )
}

/** Names of members that hold ids, slugs, versions, dates and addresses. Members with names that users chose are never on this level. */
const IDENTITY = /^(?:id|slug|version|date|git_url)$|_(?:id|slug|at)$/

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Whether the client may ask for less. Reads do not offer it, nor do requests of admins: the secret of a new key, for example, is shown only once.
 */
function isCutDown({ scope }: Endpoint): boolean {
  return scope === 'write' || scope === 'deploy'
}

/** RFC 7240, interface 2.3. Warnings and deployments stay, because no other answer has them. */
function preferredOf(
  endpoint: Endpoint,
  headers: IncomingHttpHeaders,
  answer: EndpointResponse,
): EndpointResponse {
  return isCutDown(endpoint) && prefersMinimal(headers) ? minimal(answer) : answer
}

/** The answer with `Prefer: return=minimal`. */
export const minimalAnswer = z
  .object({ count: z.int() })
  .catchall(z.unknown())
  .meta({ description: 'With `Prefer: return=minimal`: ids, slugs and versions' })

/** Preferences are a list with parameters. Unknown ones are ignored, as RFC 7240 requires. */
function prefersMinimal({ prefer }: IncomingHttpHeaders): boolean {
  return String(prefer ?? '')
    .split(',')
    .some((preference) => /^\s*return\s*=\s*"?minimal"?\s*(?:;|$)/i.test(preference))
}

function minimal({ body, writing, ...rest }: EndpointResponse): EndpointResponse {
  if (!body) return { ...rest }
  const kept = Object.entries(body).map(([name, value]) => [name, isRecord(value) ? idsOf(value) : value])
  return {
    ...rest,
    body: Object.fromEntries(kept),
    headers: { ...rest.headers, 'Preference-Applied': 'return=minimal' },
  }
}

function idsOf(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([name]) => IDS.test(name)))
}

/** The record itself, and its parents. */
const IDS = /^(?:id|slug|version|(?:artifact|variant|revision)_id)$/

/**
 * The answer to clients of the existing service if nothing is found (interface 2.30): 200 with `count: 0`, and no record or an empty list. It is
 * used only where that service does so, for reads and archiving. Other writes, deployments and missing keys of environments are 404 there, too.
 */
function nothingFound(endpoint: Endpoint, error: unknown): EndpointResponse | undefined {
  const isAbsent = error instanceof Refusal && ABSENT.includes(error.code)
  if (!isAbsent || !answersNothing(endpoint)) return undefined
  // `withAnswers` has put its own output first.
  const [own] = endpoint.output instanceof z.ZodUnion ? endpoint.output.options : []
  const list = listIn(own)
  return { body: { count: 0, ...(list === undefined ? {} : { [list]: [] }) } }
}

function answersNothing({ scope, path }: Endpoint): boolean {
  return (scope === 'read' && !isOfOthers(path)) || /\/(?:un)?archive$/.test(path)
}

const NOTHING = z
  .object({ count: z.literal(0) })
  .catchall(z.array(z.never()))
  .meta({ description: 'Nothing was found' })

const ABSENT: readonly RefusalCode[] = [
  'artifact_not_found',
  'variant_not_found',
  'revision_not_found',
  'testcase_not_found',
  'trace_not_found',
  'span_not_found',
  'template_not_found',
  'preset_not_found',
]

/** The name of the list that an endpoint answers; undefined if it answers one record. */
function listIn(output: unknown): string | undefined {
  if (!(output instanceof z.ZodObject)) return undefined
  const shape: Readonly<Record<string, unknown>> = output.shape
  return Object.keys(shape).find((name) => shape[name] instanceof z.ZodArray)
}
