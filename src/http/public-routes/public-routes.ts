import type { Middleware, Next, ParameterizedContext } from 'koa'
import { methodNotAllowed } from '../middleware/not-found.ts'
import type { RequestState } from '../request-state.ts'

/** Answers a GET that needs no key, or asks for one itself. */
export type PublicRoute = (ctx: ParameterizedContext<RequestState>) => void | Promise<void>

/** Serves the few addresses that need no key (interface 2.3), by exact path. */
export function publicRoutes(routes: Readonly<Record<string, PublicRoute>>): Middleware<RequestState> {
  const byPath = new Map(Object.entries(routes))
  return (ctx, next: Next) => {
    const route = byPath.get(ctx.path)
    if (!route) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      throw methodNotAllowed(ctx.method, ctx.path, ['GET', 'HEAD'])
    ctx.state.route = ctx.path
    return Promise.resolve(route(ctx))
  }
}
