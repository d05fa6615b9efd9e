import type { Registry } from 'prom-client'
import type { Watcher } from '../request-state.ts'
import { RequestTimes } from './request-times.ts'

/**
 * Times every request, from its headers to the end of its answer or the leaving of its client, by method, route and class of status.
 * A route is its pattern and never the path that was asked for, so that nobody can make up more of them; `none` is what was
 * refused before a route was found.
 */
export function observeRequests(registry: Registry): Watcher {
  const times = new RequestTimes(registry)
  return ({ res, state: { route = 'none' }, method }, ms) => {
    const status = res.writableFinished ? CLASSES[Math.floor(res.statusCode / 100)] : 'aborted'
    times.add(METHODS.has(method) ? method : 'other', route, status ?? 'other', ms / 1000)
  }
}

const CLASSES = ['other', '1xx', '2xx', '3xx', '4xx', '5xx']
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])
