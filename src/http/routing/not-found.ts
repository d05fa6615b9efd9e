import type { ParameterizedContext } from 'koa'
import { Refusal } from '../../errors.ts'

/**
 * The fallback after all routes: 405 with the allowed methods if the path matched a route (`ctx.matched`, set
 * by @koa/router), else 404.
 */
export function notFound(ctx: ParameterizedContext<unknown>): never {
  // Koa's context is untyped; only the router's field is read.
  const matched =
    (ctx as { readonly matched?: readonly { readonly methods: readonly string[] }[] }).matched ?? []
  const allow = [...new Set(matched.flatMap((layer) => layer.methods))].sort()
  const path = ctx.path.slice(0, 200)
  if (allow.length > 0) throw methodNotAllowed(ctx.method, path, allow)
  throw new Refusal(
    'route_not_found',
    `There is no route ${ctx.method} ${path}. GET /openapi.json lists all routes.`,
  )
}

/** The 405 for a path that accepts only `allow`. */
export function methodNotAllowed(method: string, path: string, allow: readonly string[]): Refusal {
  return new Refusal(
    'method_not_allowed',
    `${path} does not take ${method}; it takes ${allow.join(' and ')}.`,
    {
      details: { allow },
    },
  )
}
