import type { Middleware, ParameterizedContext } from 'koa'
import type { RequestState } from '../request-state.ts'

/** A request and its answer, as the app sees them. */
export type RequestContext = ParameterizedContext<RequestState>

/** Tells `watch` of each request once its answer has left or its client has gone, `ms` milliseconds after its headers were there. */
export function whenClosed(watch: (ctx: RequestContext, ms: number) => void): Middleware<RequestState> {
  return (ctx, next) => {
    const start = performance.now()
    ctx.res.once('close', () => watch(ctx, performance.now() - start))
    return next()
  }
}
