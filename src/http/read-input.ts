import type { ParameterizedContext } from 'koa'
import type { z } from 'zod'
import { invalid } from '../errors.ts'
import type { ReadJsonBody } from './body.ts'
import { departure } from './departure.ts'
import type { Endpoint } from './endpoint.ts'
import { plainEnvelope } from './envelope.ts'
import { guard } from './guard.ts'
import type { Upload } from './upload.ts'

/** What a request brought, guarded, and the text of its body (for an upload: what tells it from another one). */
export interface GuardedInput {
  readonly input: unknown
  readonly text: string
  readonly upload?: Upload
}

/** Of a request that brings nothing. */
export const NO_INPUT: GuardedInput = { input: undefined, text: '' }

/** Clients that poll send the same short question again and again; what the guard makes of it depends on its text alone. */
export type KnownInputs = Map<string, GuardedInput>

/** Reads what a request of an endpoint asks, from its body, its query string or both, and guards it; refuses as `guard` and `ReadJsonBody` do. */
export async function readInput(
  endpoint: Endpoint,
  schema: z.ZodType,
  ctx: ParameterizedContext<unknown>,
  readJsonBody: ReadJsonBody,
  known: KnownInputs,
): Promise<GuardedInput> {
  const fromQuery = ctx.querystring === '' ? undefined : endpoint.fromQuery
  const inQuery = (body: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
    fromQuery?.(new URLSearchParams(ctx.querystring), body) ?? {}
  if (endpoint.method === 'GET') return { input: guard(schema, inQuery({}), 'query'), text: '' }
  const { text, parse } = await readJsonBody(ctx)
  const isShort = endpoint.scope === 'read' && !fromQuery && text.length <= SHORT
  const before = isShort ? known.get(text) : undefined
  if (before !== undefined) return before
  const parsed = parse(text.length > SHORT ? departure(ctx.res) : undefined)
  const value = parsed instanceof Promise ? await parsed : parsed
  if (value === undefined && !endpoint.optionalBody) {
    throw invalid(['body'], 'this route needs a JSON object as its body.', 'missing')
  }
  const body = plainEnvelope(value ?? {}, { keepNulls: endpoint.keepNulls ?? false })
  // A field of the body wins over the same one in the query string.
  const whole = fromQuery && isRecord(body) ? { ...inQuery(body), ...body } : body
  const input = guard(schema, whole, value === undefined && fromQuery ? 'query' : 'body')
  const guarded = { input, text }
  if (isShort) remember(known, text, guarded)
  return guarded
}

const SHORT = 400
const MOST_KNOWN = 200

/** The oldest makes room for the newest; to keep count of what was asked last would cost as much as it saves. */
function remember(inputs: KnownInputs, text: string, input: GuardedInput): void {
  if (inputs.size >= MOST_KNOWN) for (const oldest of inputs.keys()) if (inputs.delete(oldest)) break
  inputs.set(text, input)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
