import Router from '@koa/router'
import type { Middleware } from 'koa'
import { z } from 'zod'
import { requireScope, type Intents, type KeyedRequest, type Caller } from '../../access/keys.ts'
import { groupBy } from '../../base/json.ts'
import { type FieldProblem, Refusal, invalid } from '../../errors.ts'
import { limitRegistry, type Registry } from '../../registry/registries.ts'
import { clientAbort, ClientDisconnected } from './client-abort.ts'
import type { EndpointResponse, Endpoint, Call, Recall } from './endpoint.ts'
import { answerTo } from './answers.ts'
import { type GuardedInput, type OnUnknown, guard, readInput, unknownFields } from './input.ts'
import { uuid } from '../schemas/request-schemas.ts'
import { methodNotAllowed } from './not-found.ts'
import type { RequestContext, RequestState } from '../request.ts'
import { send } from './send.ts'
import type { ReadJsonBody } from '../body/json-body.ts'
import { type ReadUpload, type Upload, uploadIdentity } from '../body/upload.ts'
import { PROBLEMS } from '../problem.ts'

export interface RouterDependencies {
  readonly readJsonBody: ReadJsonBody
  readonly onUnknown: OnUnknown
  /** Whether clients are answered in the form of the existing service (interface 2.30). */
  readonly isExisting: boolean
  /** Computed for the first request. */
  readonly endpoints: () => readonly Endpoint[]
  /** Reads the bodies of requests without a key, which are short. */
  readonly readKeylessBody: ReadJsonBody
  readonly readUpload: ReadUpload
  readonly registries: { of(project: string): Registry | Promise<Registry> }
  readonly intents: Intents
}

/**
 * Routes requests to endpoints: checks the input, calls the endpoint, and sends the answer. A path without parameters is looked up in a table.
 * Other paths have one @koa/router for each first segment, so a request is compared only with the routes of its surface.
 */
export function createRouter(dependencies: RouterDependencies): Middleware<RequestState> {
  let routes: { readonly fixed: ReadonlyMap<string, Endpoint>; readonly routers: Routers } | undefined
  return (ctx, next) => {
    routes ??= { fixed: fixedOf(dependencies.endpoints()), routers: routersOf(dependencies) }
    const endpoint = routes.fixed.get(`${ctx.method} ${ctx.path}`)
    if (endpoint) return answer(endpoint, ctx, dependencies)
    const router = routes.routers.get(segmentOf(ctx.path))
    return router ? router(ctx, next) : next()
  }
}

type Routers = ReadonlyMap<string, Middleware<RequestState>>

function fixedOf(endpoints: readonly Endpoint[]): ReadonlyMap<string, Endpoint> {
  const fixed = endpoints.filter(({ path }) => !HAS_PARAMETERS.test(path))
  return new Map(fixed.map((it) => [`${it.method} ${it.path}`, it]))
}

function routersOf(dependencies: RouterDependencies): Routers {
  const routers = new Map<string, Middleware<RequestState>>()
  for (const [segment, endpoints] of groupBy(dependencies.endpoints(), ({ path }) => segmentOf(path))) {
    const router = new Router<RequestState>()
    const fixed = groupBy(
      endpoints.filter(({ path }) => !HAS_PARAMETERS.test(path)),
      ({ path }) => path,
    )
    for (const [path, each] of fixed) {
      for (const endpoint of each)
        router.register(path, [endpoint.method], (ctx) => answer(endpoint, ctx, dependencies))
      // A fixed path is never taken for a slug (interface 2.1).
      const methods = each.map(({ method }) => method)
      const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].sort()
      router.all(path, ({ method }) => {
        throw methodNotAllowed(method, path, allow)
      })
    }
    for (const endpoint of endpoints.filter(({ path }) => HAS_PARAMETERS.test(path)))
      router.register(endpoint.path, [endpoint.method], (ctx) =>
        answer(endpoint, ctx, dependencies, ctx.params),
      )
    // A router's middleware has a type of its own for the context. It is a Koa context with a few more fields.
    routers.set(segment, router.routes() as unknown as Middleware<RequestState>)
  }
  return routers
}

const HAS_PARAMETERS = /[:*]/

function segmentOf(path: string): string {
  const end = path.indexOf('/', 1)
  return end < 0 ? path : path.slice(0, end)
}

type Params = Readonly<Record<string, string>>

async function answer(
  endpoint: Endpoint,
  ctx: RequestContext,
  dependencies: RouterDependencies,
  sent?: Params,
): Promise<void> {
  ctx.state.route = endpoint.path
  if (endpoint.callerIn) return answerWithoutKey(endpoint, endpoint.callerIn, ctx, dependencies)
  ctx.state.isRead = endpoint.scope === 'read' || endpoint.scope === 'invoke'
  const { caller } = ctx.state
  if (!caller) throw new Error('routes are asked before somebody was let in')
  const { scope, orScope = [] } = endpoint
  if (!caller.may[scope]) requireScope(caller, [scope, ...[orScope].flat()])
  const params = sent ? guard<Params>(endpoint.params ?? idParams, sent, 'path') : NO_PARAMS
  if (endpoint.upload) return send(ctx, await answerUpload(endpoint, ctx, dependencies, caller, params))
  const guarded = await readInput(endpoint, ctx, dependencies.readJsonBody, dependencies.onUnknown)
  return send(ctx, await run(endpoint, ctx, dependencies, caller, params, guarded))
}

/** The caller is known after the body was read, because a sign-in sends the key in it. */
async function answerWithoutKey(
  endpoint: Endpoint,
  callerIn: NonNullable<Endpoint['callerIn']>,
  ctx: RequestContext,
  dependencies: RouterDependencies,
): Promise<void> {
  const { readKeylessBody, onUnknown } = dependencies
  const guarded = await readInput(endpoint, ctx, readKeylessBody, onUnknown)
  const caller = await callerIn(guarded.input as never) // The endpoint's own schema has checked it.
  ctx.state.caller = caller
  return send(ctx, await run(endpoint, ctx, dependencies, caller, NO_PARAMS, guarded))
}

async function answerUpload(
  endpoint: Endpoint,
  ctx: RequestContext,
  dependencies: RouterDependencies,
  caller: Caller,
  params: Params,
): Promise<EndpointResponse> {
  const upload = await dependencies.readUpload(ctx)
  try {
    const fields = filled(upload.fields)
    const { input: schema } = endpoint
    const unknown = schema && dependencies.onUnknown === 'refuse' ? unknownOf(schema, fields, upload) : []
    const input = schema && guard(schema, fields, 'body', unknown)
    const text = uploadIdentity(upload).join('\n')
    return await run(endpoint, ctx, dependencies, caller, params, { input, text, upload })
  } finally {
    upload.discard()
  }
}

function unknownOf(
  schema: z.ZodType,
  fields: Readonly<Record<string, string>>,
  { inQuery }: Upload,
): readonly FieldProblem[] {
  const part = (isInQuery: boolean): object =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => inQuery.has(name) === isInQuery))
  return [...unknownFields(schema, part(true), 'query'), ...unknownFields(schema, part(false), 'body')]
}

/** An empty field of a form counts as absent (interface 8.16): a browser's form sends all its fields. */
function filled(fields: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''))
}

/** The answer of the endpoint, to a first or a repeated request. */
async function run(
  endpoint: Endpoint,
  ctx: RequestContext,
  dependencies: RouterDependencies,
  caller: Caller,
  params: Params,
  { input, text, upload }: GuardedInput,
): Promise<EndpointResponse> {
  const { session, isRead } = ctx.state
  const { registries, isExisting } = dependencies
  const { headers } = ctx.req
  const { id, name, email } = caller.key
  const project = await registries.of(caller.project)
  const registry = caller.key.folders ? limitRegistry(project, caller.key.folders) : project
  const call = {
    registry,
    // Parsed by the endpoint's own schema.
    input: input as never,
    params,
    context: { actor: { id, name, email, mayDeploy: caller.may.deploy } },
    caller,
    session,
    headers,
    untilGone: () => clientAbort(ctx.res),
    upload,
  }
  if (headers['idempotency-key'] !== undefined && endpoint.recall) {
    const asks = [endpoint.method, ctx.path, ctx.querystring, text]
    return respondOnce(dependencies, asks, endpoint, endpoint.recall, call)
  }
  const answered = await answerTo(endpoint, call, isExisting)
  return isRead && registry.index.age > 0 ? withFreshness(answered, registry.index.age) : answered
}

/**
 * The answer. For a list of a project with very many artifacts, a header tells how old it may be, because changes by plain git are seen there
 * later than after two seconds: `Svc-Freshness: files; age=<ms>` (interface 2.31).
 */
function withFreshness(answer: EndpointResponse, age: number): EndpointResponse {
  if (!answer.body || !('count' in answer.body)) return answer
  return { ...answer, headers: { ...answer.headers, 'Svc-Freshness': `files; age=${Math.round(age)}` } }
}

const idParams = z.record(z.string(), uuid)
const NO_PARAMS = {}

/**
 * Answers a request with an `Idempotency-Key`: the first time it runs the endpoint, later it answers the first result again, with the current
 * state of the record (interface 2.25).
 */
function respondOnce(
  { intents, isExisting }: RouterDependencies,
  asks: KeyedRequest['asks'],
  endpoint: Endpoint,
  recall: Recall<never>,
  call: Call<never>,
): Promise<EndpointResponse> {
  const { caller, headers } = call
  // Node joins repeated headers of this name, so it is never a list.
  const key = checkIdempotencyKey(String(headers['idempotency-key']))
  return intents.once(
    { project: caller.project, credential: caller.key.id, key, asks },
    {
      run: async ({ artifactId, earlier, ...attempt }) => {
        const keyed = { idempotencyKey: key, artifactId, attemptedAt: earlier, attempt }
        const attempted = { ...call, context: { ...call.context, ...keyed } }
        const answer = await answerTo(endpoint, attempted, isExisting)
        if (!answer.address)
          throw new Error(`${endpoint.path} can be recalled, but did not say where its result is`)
        return { answer, address: answer.address }
      },
      recall: async (address) => ({
        ...(await answerTo(endpoint, call, false, (again) => recall(again, address))),
        isReplayed: true,
      }),
      isRefusal: (error) =>
        error instanceof Refusal && !(error instanceof ClientDisconnected) && PROBLEMS[error.code][0] < 500,
    },
  )
}

/** The text of an `Idempotency-Key` header, if it is valid: it becomes a line of a commit message. */
export function checkIdempotencyKey(text: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(text)) return text
  throw invalid(
    ['header', 'Idempotency-Key'],
    `${JSON.stringify(text.slice(0, 50))} has ${text.length} characters or some that are not printable ASCII; send 1 to ` +
      `255 printable ASCII characters, such as a UUID.`,
    'invalid_idempotency_key',
  )
}
