import type { Middleware, ParameterizedContext } from 'koa'
import { methodNotAllowed } from './refuse-unrouted.ts'
import type { DoorState } from './request-state.ts'

/** Answers a GET that needs no key, or asks for one itself. */
export type OpenRoute = (ctx: ParameterizedContext<DoorState>) => void | Promise<void>

/** Serves the few addresses that need no key (ruling 1.5), by exact path; hands every other request on. */
export function openRoutes(routes: Readonly<Record<string, OpenRoute>>): Middleware<DoorState> {
  const byPath = new Map(Object.entries(routes))
  return (ctx, next) => {
    const route = byPath.get(ctx.path)
    if (!route) return next()
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD')
      throw methodNotAllowed(ctx.method, ctx.path, ['GET', 'HEAD'])
    ctx.state.route = ctx.path
    return Promise.resolve(route(ctx))
  }
}
