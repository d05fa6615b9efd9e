import Router from '@koa/router'
import type { Middleware, ParameterizedContext } from 'koa'
import { z } from 'zod'
import { requireScope } from '../access/require-scope.ts'
import type { Scope } from '../access/scope.ts'
import { grants } from '../access/scope.ts'
import type { Intents } from '../access/intents.ts'
import { invalid } from '../errors.ts'
import type { Registry } from '../versioning/registry.ts'
import { answerOnce } from './answer-once.ts'
import type { ReadJsonBody } from './body.ts'
import { departure } from './departure.ts'
import type { Answer, Call, Endpoint } from './endpoint.ts'
import { plainEnvelope } from './envelope.ts'
import { guard } from './guard.ts'
import { uuid } from './request-schemas.ts'
import type { RequestState } from './request-state.ts'
import { send } from './send.ts'
import { type ReadUpload, type Upload, uploadIdentity } from './upload.ts'

export interface RouterDependencies {
  readonly endpoints: readonly Endpoint[]
  readonly readJsonBody: ReadJsonBody
  readonly readUpload: ReadUpload
  readonly registryOf: (project: string) => Registry | Promise<Registry>
  readonly intents: Intents
}

/**
 * Routes requests to endpoints: guards what comes in, calls, writes what comes out. Paths without parameters are found in a
 * table; for the others there is one @koa/router for each first path segment, so that a request is only compared with the
 * routes of its surface.
 */
export function createRouter(dependencies: RouterDependencies): Middleware<RequestState> {
  const handlers = new Map<string, Middleware<RequestState>>()
  const routers = new Map<string, Middleware<RequestState>>()
  for (const [segment, group] of bySegment(dependencies.endpoints)) {
    const router = new Router<RequestState>()
    for (const endpoint of group) {
      const route = { endpoint, scopes: scopesOf(endpoint), known: new Map() }
      const handle = async (ctx: ParameterizedContext<RequestState>): Promise<void> => {
        ctx.state.isRead = endpoint.scope === 'read' || endpoint.scope === 'invoke'
        ctx.state.route = endpoint.path
        return send(ctx, await answer(route, ctx, dependencies))
      }
      if (!endpoint.path.includes(':')) handlers.set(`${endpoint.method} ${endpoint.path}`, handle)
      router.register(endpoint.path, [endpoint.method], handle)
    }
    // A router's middleware wants its own context type; it is a Koa context with a few fields more.
    routers.set(segment, router.routes() as unknown as Middleware<RequestState>)
  }
  return (ctx, next) => {
    const { path } = ctx
    const handle = handlers.get(`${ctx.method} ${path}`) ?? routers.get(segmentOf(path))
    return handle ? handle(ctx, next) : next()
  }
}

function segmentOf(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}

/** An endpoint with what is worked out of it once, and what it was asked before. */
interface Route {
  readonly endpoint: Endpoint
  readonly scopes: readonly Scope[]
  readonly known: KnownInputs
}

async function answer(
  { endpoint, scopes, known }: Route,
  ctx: ParameterizedContext<RequestState>,
  dependencies: RouterDependencies,
): Promise<Answer> {
  requireScope(ctx.state.caller, scopes)
  const params = readParams(endpoint, ctx)
  if (endpoint.upload) return answerUpload(endpoint, ctx, dependencies, params)
  const guarded = endpoint.input
    ? await readInput(endpoint, endpoint.input, ctx, dependencies.readJsonBody, known)
    : NO_INPUT
  return run(endpoint, ctx, dependencies, params, guarded)
}

function scopesOf({ scope, orScope }: Endpoint): readonly Scope[] {
  return orScope === undefined ? [scope] : [scope, ...[orScope].flat()]
}

async function answerUpload(
  endpoint: Endpoint,
  ctx: ParameterizedContext<RequestState>,
  dependencies: RouterDependencies,
  params: Call<never>['params'],
): Promise<Answer> {
  const upload = await dependencies.readUpload(ctx)
  try {
    const input = endpoint.input && guard(endpoint.input, filled(upload.fields), 'body')
    const text = uploadIdentity(upload).join('\n')
    return await run(endpoint, ctx, dependencies, params, { input, text, upload })
  } finally {
    upload.discard()
  }
}

/** An empty field of a form is an absent one (contract/testsets 5.1): a form that people fill in has all of them. */
function filled(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

function run(
  endpoint: Endpoint,
  ctx: ParameterizedContext<RequestState>,
  { registryOf, intents }: RouterDependencies,
  params: Call<never>['params'],
  { input, text, upload }: GuardedInput,
): Promise<Answer> | Answer {
  const { caller } = ctx.state
  const registry = registryOf(caller.project)
  if (registry instanceof Promise) return registry.then(runWith)
  return runWith(registry)

  function runWith(registry: Registry): Promise<Answer> | Answer {
    const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch, 'idempotency-key': key } = ctx.req.headers
    const { id, name, email, scopes } = caller.key
    const call = {
      registry,
      // Parsed by the endpoint's own schema.
      input: input as never,
      params,
      context: { actor: { id, name, email, mayDeploy: grants(scopes, 'deploy') } },
      mayRead: grants(scopes, 'read'),
      mayWrite: grants(scopes, 'write'),
      headers: ctx.req.headers,
      ifMatch,
      ifNoneMatch,
      untilGone: () => departure(ctx.res),
      upload,
    }
    if (key === undefined || !endpoint.recall) return endpoint.run(call)
    const asks = [endpoint.method, ctx.path, ctx.querystring, text]
    // node joins a header that is sent twice, so this one is never a list.
    const request = { project: caller.project, credential: id, key: String(key), asks }
    return answerOnce(intents, request, endpoint, endpoint.recall, call)
  }
}

/** What a request brought, guarded, and the text of its body (for an upload: what tells it from another one). */
interface GuardedInput {
  readonly input: unknown
  readonly text: string
  readonly upload?: Upload
}

const NO_INPUT: GuardedInput = { input: undefined, text: '' }

const idParams = z.record(z.string(), uuid)
const NO_PARAMS = {}

function readParams(
  { params: own }: Endpoint,
  ctx: ParameterizedContext<RequestState>,
): Readonly<Record<string, string>> {
  const { params } = ctx as unknown as { readonly params?: Record<string, string> } // set by @koa/router
  if (params === undefined) return NO_PARAMS
  const schema: z.ZodType<Readonly<Record<string, string>>> = own ?? idParams
  return guard(schema, params, 'path')
}

async function readInput(
  endpoint: Endpoint,
  schema: z.ZodType,
  ctx: ParameterizedContext<RequestState>,
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
  const value = parse()
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

/** Clients that poll send the same short question again and again; what the guard makes of it depends on its text alone. */
type KnownInputs = Map<string, GuardedInput>
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

function bySegment(endpoints: readonly Endpoint[]): Map<string, Endpoint[]> {
  const groups = new Map<string, Endpoint[]>()
  for (const endpoint of endpoints) {
    const segment = segmentOf(endpoint.path)
    groups.set(segment, [...(groups.get(segment) ?? []), endpoint])
  }
  return groups
}
