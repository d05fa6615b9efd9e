import { Registry } from 'prom-client'
import { type Caller, requireScope } from '../../access/keys.ts'
import type { RequestContext, PublicRoute } from '../request.ts'

/**
 * `GET /metrics`: all metrics of the registries in Prometheus format. Needs a key with the scope `read`,
 * unless `callerOf` is absent (METRICS=open). The numbers are totals over all projects and name nothing
 * stored, but they tell an outsider how busy the server is and how to overload it.
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
