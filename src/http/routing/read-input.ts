import type { ParameterizedContext } from 'koa'
import { z } from 'zod'
import type { FieldProblem } from '../../errors.ts'
import { problemsRefusal } from '../../resources/documents/problems-refusal.ts'
import { AskedQuery } from './asked-query.ts'
import type { ReadJsonBody } from '../body/json-body.ts'
import { clientAbort } from './client-abort.ts'
import type { Endpoint } from './endpoint.ts'
import { plainEnvelope } from '../schemas/envelope.ts'
import { guard } from './guard.ts'
import { unknownFields } from './unknown-fields.ts'
import type { Upload } from '../body/upload.ts'

/** What a request brought, guarded, and the text of its body (for an upload: what tells it from another one). */
export interface GuardedInput {
  readonly input: unknown
  readonly text: string
  readonly upload?: Upload
}

export interface ReadInputOptions {
  readonly readJsonBody: ReadJsonBody
  /** What becomes of fields and parameters that nobody reads (interface 2.10, 2.30). */
  readonly onUnknown: 'refuse' | 'ignore'
}

/**
 * Reads what a request of an endpoint asks, from its body, its query string or both, and guards it; refuses as `guard` and
 * `ReadJsonBody` do. Where an endpoint asks nothing, a request that says something anyhow is mistaken.
 */
export async function readInput(
  endpoint: Endpoint,
  ctx: ParameterizedContext<unknown>,
  { readJsonBody, onUnknown }: ReadInputOptions,
): Promise<GuardedInput> {
  const { input: schema = NOTHING, method } = endpoint
  const isStrict = onUnknown === 'refuse'
  let unknown: readonly FieldProblem[] = []
  const inQuery = (body: Fields): Fields => {
    if (ctx.querystring === '') return {}
    const query = new AskedQuery(ctx.querystring)
    const read = endpoint.fromQuery?.(query, body) ?? {}
    if (isStrict)
      unknown = [...unknown, ...query.unknown(endpoint.unusedQuery), ...unknownFields(schema, read, 'query')]
    return read
  }
  if (method === 'GET' || method === 'DELETE')
    return { input: guard(schema, inQuery({}), 'query', unknown), text: '' }
  if (!endpoint.input && !isStrict) return NO_INPUT
  const { text, parse } = await readJsonBody(ctx)
  const parsed = parse(text.length > SHORT ? clientAbort(ctx.res) : undefined)
  const value = parsed instanceof Promise ? await parsed : parsed
  if (value === undefined && endpoint.input && !endpoint.optionalBody) {
    inQuery({})
    throw problemsRefusal('invalid_request', [...unknown, NO_BODY])
  }
  const keepNulls = endpoint.keepNulls ?? false
  const body = plainEnvelope(value ?? {}, { keepNulls })
  if (isStrict) unknown = [...unknown, ...unknownFields(schema, body, 'body', { keepNulls })]
  // A field of the body wins over the same one in the query string.
  const asked = inQuery(isRecord(body) ? body : {})
  const whole = isRecord(body) ? { ...asked, ...body } : body
  const input = guard(
    schema,
    whole,
    value === undefined && ctx.querystring !== '' ? 'query' : 'body',
    unknown,
  )
  return { input, text }
}

type Fields = Readonly<Record<string, unknown>>

const NOTHING = z.object({})

const NO_BODY: FieldProblem = {
  loc: ['body'],
  msg: 'this route needs a JSON object as its body.',
  type: 'missing',
}

const NO_INPUT: GuardedInput = { input: undefined, text: '' }

/** So short a text is parsed before anybody could leave. */
const SHORT = 400

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
