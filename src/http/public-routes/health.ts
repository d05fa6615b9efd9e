import type { Caller } from '../../access/keys.ts'
import { handlerTable } from '../../run/handlers.ts'
import type { FillProgress } from '../../git/transactions.ts'
import type { RequestContext, PublicRoute } from '../request.ts'
import type { ProjectsReadiness } from '../../registry/registries.ts'

/** The state of the store, and its problems by project. */
export interface Readiness extends ProjectsReadiness {
  /** Why the store cannot be used now; nothing else is known then. */
  readonly storeProblem?: string | undefined
  /** Projects whose traces cannot be stored or were lost; the server is ready anyway. */
  readonly traces?: readonly { readonly project: string }[]
}

/** `GET /health`: the process is alive and answers. */
export const health: PublicRoute = (ctx) => {
  ctx.body = '{"status":"ok"}'
  ctx.type = 'application/json'
}

/** `GET /services/health` and `/services/<key>/v0/health` (interface 12.7): handlers run in this process. */
export function servicesHealth(): Readonly<Record<string, PublicRoute>> {
  const addresses = ['/services', ...handlerTable.keys.map((key) => `/services/${key}/v0`)]
  return Object.fromEntries(addresses.map((address) => [`${address}/health`, health]))
}

/**
 * `GET /ready`: 200 once every project is open. 503 with `Retry-After` until then (while the folder is filled
 * from a database, with the progress), and while the store is gone. A damaged repository is counted but does
 * not make the server unready: the others are served. A key that may read is told the problems in its
 * project. Any other key counts as none: a probe should not consider the server dead because a key was
 * revoked.
 */
export function ready(
  readiness: () => Readiness,
  callerOf: (ctx: RequestContext) => Caller | undefined,
): PublicRoute {
  return (ctx) => {
    ctx.set('Cache-Control', 'no-store')
    const { ready, filling, artifacts, listAge, problems, traces = [], storeProblem } = readiness()
    const isUsable = ready && storeProblem === undefined
    ctx.status = isUsable ? 200 : 503
    if (!isUsable) ctx.set('Retry-After', '1')
    if (storeProblem !== undefined) {
      ctx.body = { status: 'unavailable', reason: storeProblem }
      return
    }
    const caller = callerOf(ctx)
    ctx.body = {
      status: ready ? 'ready' : filling ? 'filling' : 'starting',
      ...(filling ? { filling: progressOf(filling) } : {}),
      artifacts,
      ...(listAge > 0 ? { list_age_ms: listAge } : {}),
      problems: problems.length + traces.length,
      ...(caller?.may.read && !caller.key.folders ? named(problems, traces, caller.project) : {}),
    }
  }
}

/** How many of the database's repositories the server has; the log says what delays others. */
function progressOf({ there, of }: FillProgress): object {
  return { repositories: there, of }
}

/** The problems in a project. */
function named(
  problems: Readiness['problems'],
  traces: NonNullable<Readiness['traces']>,
  project: string,
): object {
  const isOwn = (it: { readonly project: string }): boolean => it.project === project
  const own = traces.filter(isOwn)
  return { damaged: problems.filter(isOwn), ...(own.length > 0 ? { traces: own } : {}) }
}
