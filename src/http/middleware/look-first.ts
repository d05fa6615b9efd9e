import type { Middleware } from 'koa'
import type { RequestState } from '../request-state.ts'
import type { RequestContext } from './when-closed.ts'

/** How fresh what is read is: it has all that was acknowledged anywhere before a moment. */
export interface HowFresh {
  /** What makes sure of that: a value of READS. */
  readonly by: string
  /** The moment, on the clock of `performance`, in milliseconds. */
  readonly since: number
}

/**
 * Sees to it that a request finds what was acknowledged anywhere before it came; that a key was revoked, too. Where servers share a database,
 * the answer to a read says how fresh it is: `Svc-Freshness: quorum; age=<ms>` (interface 2.31).
 */
export function lookFirst(fresh: () => Promise<HowFresh | undefined>): Middleware<RequestState> {
  return (ctx, next) => fresh().then((how) => (how ? telling(ctx, how, next) : next()))
}

async function telling(
  ctx: RequestContext,
  { by, since }: HowFresh,
  next: () => Promise<unknown>,
): Promise<void> {
  try {
    await next()
  } finally {
    if (ctx.state.isRead && !ctx.headerSent)
      ctx.set('Svc-Freshness', `${by}; age=${Math.max(0, Math.round(performance.now() - since))}`)
  }
}
