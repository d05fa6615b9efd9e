import type { IncomingHttpHeaders } from 'node:http'
import { z } from 'zod'
import { Refusal, type RefusalCode } from '../../errors.ts'
import { HelpfulRefusal } from '../../base/suggestions.ts'
import { deployments } from '../schemas/deployments.ts'
import { isOfOthers } from '../request.ts'
import type { SurfaceContext } from '../surface-context.ts'
import type { Call, Endpoint, EndpointResponse } from './endpoint.ts'

/**
 * The answer of an endpoint as whoever asks may and wants to see it. A write is cut down to ids, slugs and versions where the client sends
 * `Prefer: return=minimal`; a key without the scope `read` is told only which things were written. A refusal speaks in the words of its
 * surface, with suggestions for keys that may read (interface 3.13). Where nothing is found, clients of the existing service are
 * answered as that does (`isExisting`). `run` is what the endpoint does, unless it is asked for what it did before.
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

/** The endpoint as the OpenAPI document has it, with what else `answerTo` may answer in its name. */
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

/** The endpoints of a surface, which speak of its things as it does. */
export function inWordsOf(context: SurfaceContext, endpoints: readonly Endpoint[]): Endpoint[] {
  return endpoints.map((endpoint) => ({ ...endpoint, words: wordsOf(context) }))
}

/** How a surface calls the things of its family. */
export function wordsOf({ surface }: SurfaceContext): NonNullable<Endpoint['words']> {
  return { family: surface.family.name, word: surface.singular }
}

/** What went wrong, in the words of the endpoint, and with suggestions where a key may see them. */
export async function told(
  { words }: Endpoint,
  { caller }: Pick<Call<never>, 'caller'>,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof HelpfulRefusal)) return error
  const word = (family: string): string => (family === words?.family ? words.word : family)
  return error.toldTo({ word, mayRead: caller.may.read })
}

/** Whether who is let in sees the whole answer: reads let nobody else in. */
function showsAll(endpoint: Endpoint): boolean {
  return endpoint.showsAll === true || (endpoint.scope === 'read' && endpoint.orScope === undefined)
}

/** What is answered to a key without the scope `read`. */
export const withheldAnswer = z
  .object({
    count: z.literal(1),
    trace_id: z.string().optional(),
    changed: z.boolean().optional(),
    deployments: deployments.optional(),
  })
  .catchall(z.record(z.string(), z.union([z.string(), z.int()])))
  .meta({ description: 'To a key without the scope `read`: ids, slugs, versions, dates and addresses' })

function withheldOf({ path }: Endpoint, answer: EndpointResponse): EndpointResponse {
  const { body, text, stream, writing, ...rest } = answer
  // A bug of ours, and told as one rather than shown.
  if (!body || text !== undefined || stream) throw new Error(`${path} answers what cannot be withheld`)
  return { ...rest, body: withheld(body) }
}

/** Numbers and texts of the body whose names say that they are no content, and the same of the records in it. */
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

/** Names of members that hold ids, slugs, versions, dates and addresses. Members that users name are never at this level. */
const IDENTITY = /^(?:id|slug|version|date|git_url)$|_(?:id|slug|at)$/

function isScalar(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number'
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a client may prefer less. Reads, and what only an admin key may do, answer as ever: what is made there is shown once. */
function isCutDown({ scope }: Endpoint): boolean {
  return scope === 'write' || scope === 'deploy'
}

/** RFC 7240, interface 2.3. Warnings and deployments stay: nothing else tells of them. */
function preferredOf(
  endpoint: Endpoint,
  headers: IncomingHttpHeaders,
  answer: EndpointResponse,
): EndpointResponse {
  return isCutDown(endpoint) && prefersMinimal(headers) ? minimal(answer) : answer
}

/** What is answered with `Prefer: return=minimal`. */
export const minimalAnswer = z
  .object({ count: z.int() })
  .catchall(z.unknown())
  .meta({ description: 'With `Prefer: return=minimal`: ids, slugs and versions' })

/** Preferences are a list, with parameters; what is not known is left alone, as RFC 7240 wants it. */
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

/** Of the thing itself and of what it belongs to. */
const IDS = /^(?:id|slug|version|(?:artifact|variant|revision)_id)$/

/**
 * What clients of the existing service are answered where nothing is found (interface 2.30): 200 with `count: 0`, and no record or an empty
 * list. Only where it reads, or archives, as that service has it: other writes, deploying and what environments do not hold are 404
 * there, too.
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
