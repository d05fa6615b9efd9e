import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ParameterizedContext } from 'koa'
import { holdsStream, stringifyStreams } from '../json/json-stream.ts'
import { stringifyJson } from '../json/stringify-json.ts'
import type { Answer } from './endpoint.ts'

/** Writes an answer out; of a stream, waits for the first piece, so that a refusal until then is answered as one. */
export function send(ctx: ParameterizedContext<unknown>, answer: Answer): void | Promise<void> {
  const { body, text, stream, etag, notModified, isReplayed } = answer
  const { res } = ctx
  if (answer.status !== undefined) ctx.status = answer.status
  for (const name in answer.headers) res.setHeader(name, answer.headers[name] ?? '')
  if (isReplayed) res.setHeader('Idempotent-Replayed', 'true')
  if (stream && !notModified) return sendStream(ctx, answer, stream)
  if (etag !== undefined) setEtag(res, etag)
  if (notModified) {
    ctx.status = 304
    return
  }
  if (body && holdsStream(body))
    return sendStream(ctx, { ...answer, contentType: JSON_TYPE }, stringifyStreams(body))
  res.setHeader('Content-Type', JSON_TYPE)
  ctx.body = text ?? stringifyJson(body)
}

const JSON_TYPE = 'application/json; charset=utf-8'

function setEtag(res: ServerResponse, etag: string): void {
  res.setHeader('ETag', etag)
  res.setHeader('Cache-Control', 'private, no-cache')
}

async function sendStream(
  ctx: ParameterizedContext<unknown>,
  { contentType = 'application/octet-stream', fileName, etag }: Answer,
  stream: AsyncIterable<string | Buffer>,
): Promise<void> {
  const pieces = stream[Symbol.asyncIterator]()
  const first = await pieces.next()
  if (etag !== undefined) setEtag(ctx.res, etag)
  ctx.set('Content-Type', contentType)
  if (fileName !== undefined) ctx.attachment(fileName)
  // Koa pipes it, destroys it when the client goes, and destroys the connection when it fails.
  ctx.body = Readable.from(startingWith(first, pieces), { objectMode: false })
}

/** Not a generator: one that is closed before its first piece was asked for would not close `rest`. */
function startingWith<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncIterable<T> {
  let isFirst = true
  return {
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        if (!isFirst) return rest.next()
        isFirst = false
        return first
      },
      return: async (value) => (await rest.return?.(value)) ?? { done: true, value },
    }),
  }
}
