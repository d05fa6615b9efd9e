import { Registry } from 'prom-client'
import type { Caller } from '../../access/caller.ts'
import { requireScope } from '../../access/scope.ts'
import type { RequestContext, PublicRoute } from '../request.ts'

/**
 * `GET /metrics`: everything the registries hold, as Prometheus reads it. Asks for a key with the scope `read`, unless it is told
 * of no way to know one (METRICS=open): the numbers are sums over all projects and name none, nor anything that is stored, but
 * they tell an outsider how busy the server is and how to make it busier.
 */
export function metricsRoute(
  registries: Registry[],
  callerOf: ((ctx: RequestContext) => Caller) | undefined,
): PublicRoute {
  return async (ctx) => {
    if (callerOf) requireScope(callerOf(ctx), ['read'])
    ctx.state.isRead = true
    ctx.set('Cache-Control', 'no-store')
    ctx.body = await Registry.merge(registries).metrics()
    ctx.set('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  }
}
