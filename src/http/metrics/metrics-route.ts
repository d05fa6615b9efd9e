import { Registry } from 'prom-client'
import type { Authenticate } from '../../access/authenticator.ts'
import { requireScope } from '../../access/require-scope.ts'
import { apiKeyIn, setCaller } from '../middleware/authenticate.ts'
import type { PublicRoute } from '../public-routes/public-routes.ts'

/**
 * `GET /metrics`: everything the registries hold, as Prometheus reads it. Asks for a key with the scope `read`, unless it is told
 * of no way to know one (METRICS=open): the numbers are sums over all projects and name none, nor anything that is stored, but
 * they tell an outsider how busy the server is and how to make it busier.
 */
export function metricsRoute(registries: Registry[], callerOf: Authenticate | undefined): PublicRoute {
  return async (ctx) => {
    if (callerOf) {
      setCaller(ctx, callerOf, apiKeyIn)
      requireScope(ctx.state.caller, ['read'])
    }
    ctx.state.isRead = true
    ctx.set('Cache-Control', 'no-store')
    ctx.body = await Registry.merge(registries).metrics()
    ctx.set('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  }
}
