import { Histogram, type Registry } from 'prom-client'
import type { Middleware } from 'koa'
import { whenClosed } from '../middleware/when-closed.ts'
import type { RequestState } from '../request-state.ts'

/** Seconds: a retrieve takes parts of a millisecond, an invocation may take minutes. */
const BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60]

/**
 * Times every request, from its headers to the end of its answer or the leaving of its client, by method, route and class of status.
 * A route is its pattern and never the path that was asked for, so that nobody can make up more of them; `none` is what was
 * refused before a route was found.
 */
export function observeRequests(registry: Registry): Middleware<RequestState> {
  const times = new Histogram({
    name: 'branchpoint_http_request_duration_seconds',
    help: 'Requests by method, route pattern and class of status, and how long they took.',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
  return whenClosed(({ res, state: { route = 'none' }, method }, ms) => {
    const status = res.writableFinished ? CLASSES[Math.floor(res.statusCode / 100)] : 'aborted'
    times.observe(
      { method: METHODS.has(method) ? method : 'other', route, status: status ?? 'other' },
      ms / 1000,
    )
  })
}

const CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
