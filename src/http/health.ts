import { managedKeys } from '../resources/workflows/handler-uri.ts'
import type { OpenRoute } from './open-routes.ts'

/** How far the store is, and which repositories it cannot serve. */
export interface Readiness {
  readonly ready: boolean
  readonly artifacts: number
  readonly problems: readonly { readonly repository: string; readonly reason: string }[]
  /** Whose traces cannot be stored, or were lost; the server is ready all the same. */
  readonly traces?: readonly object[]
}

/** `GET /health`: the process is alive and answers. */
export const health: OpenRoute = (ctx) => {
  ctx.body = '{"status":"ok"}'
  ctx.type = 'application/json'
}

/** `GET /services/health` and `/services/<key>/v0/health` (contract/handlers 4.1): handlers live where the process does. */
export function servicesHealth(): Readonly<Record<string, OpenRoute>> {
  const addresses = ['/services', ...managedKeys().map((key) => `/services/${key}/v0`)]
  return Object.fromEntries(addresses.map((address) => [`${address}/health`, health]))
}

/**
 * `GET /ready`: 200 once every repository is known, 503 with `Retry-After` until then. A damaged repository is named but
 * does not make the server unready: the others are served.
 */
export function ready(readiness: () => Readiness): OpenRoute {
  return (ctx) => {
    const { ready, artifacts, problems, traces = [] } = readiness()
    ctx.status = ready ? 200 : 503
    if (!ready) ctx.set('Retry-After', '1')
    ctx.set('Cache-Control', 'no-store')
    ctx.body = {
      status: ready ? 'ready' : 'starting',
      artifacts,
      damaged: problems,
      ...(traces.length > 0 ? { traces } : {}),
    }
  }
}
