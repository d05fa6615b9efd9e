import type { Logger } from 'pino'
import { whenClosed } from './when-closed.ts'
import type { Middleware } from 'koa'
import type { RequestState } from '../request-state.ts'

/**
 * One structured line for each request, written when its answer has left or its client has gone: id, method, path
 * without the query string, status, milliseconds, bytes of the answer, id of the key. Never a header or a body. Reads and
 * invocations that succeed are logged at level debug, everything else at info.
 */
export function requestLog(log: Logger): Middleware<RequestState> {
  return whenClosed(({ res, method, originalUrl, state }, ms) => {
    // A successful read is the most frequent and the least remarkable thing there is: a line of its own only for debugging.
    const level = state.isRead && res.statusCode < 400 && res.writableFinished ? 'debug' : 'info'
    if (!log.isLevelEnabled(level)) return
    const length = res.getHeader('content-length')
    log[level](
      {
        requestId: state.requestId,
        method,
        path: withoutQuery(originalUrl),
        status: res.statusCode,
        ms: Math.round(ms * 1000) / 1000,
        bytes: length === undefined ? undefined : Number(length),
        keyId: state.caller?.key.id,
        aborted: res.writableFinished ? undefined : true,
      },
      'request',
    )
  })
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?')
  return query < 0 ? url : url.slice(0, query)
}
