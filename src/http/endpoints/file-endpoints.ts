import { isUtf8 } from 'node:buffer'
import { z } from 'zod'
import { findFile, listFiles, MOST_FILES } from '../../registry/revisions.ts'
import { etagMatches } from '../routing/send.ts'
import { type Endpoint, type EndpointResponse, endpoint, named, revisionIn } from '../routing/endpoint.ts'
import { queryReading } from '../schemas/queries/query-parameters.ts'
import { pageInfo, revisionFile } from '../schemas/record-schemas.ts'
import type { SurfaceContext } from '../surface-context.ts'

/** `GET …/revisions/{id}/files` of a surface, and below it each file's bytes. */
export function fileEndpoints({ surface }: SurfaceContext): Endpoint[] {
  const { family, path, plural } = surface
  return [
    endpoint({
      method: 'GET',
      path: `/${path}/revisions/:id/files`,
      ...named,
      tag: plural,
      summary: `The files of the revision, at most ${MOST_FILES} a page`,
      scope: 'read',
      input: z.object({ windowing: filePage.optional() }),
      fromQuery: queryReading([], true),
      output: z.strictObject({
        count: z.int().min(0),
        files: z.array(revisionFile),
        windowing: pageInfo.optional(),
      }),
      run: async ({ registry, params, input: { windowing = {} }, untilGone }) => {
        const place = await revisionIn(registry, family, params)
        const { rows, next } = await listFiles(place, windowing, untilGone())
        const page = next === undefined ? {} : { windowing: { ...windowing, next } }
        return { body: { count: rows.length, files: rows, ...page } }
      },
    }),
    endpoint({
      method: 'GET',
      path: `/${path}/revisions/:id/files/*path`,
      params: named.params.extend({ path: z.string() }),
      tag: plural,
      summary: 'The bytes of a file of the revision, as text if they are UTF-8',
      scope: 'read',
      input: z.object({}),
      output: z.unknown(),
      downloads: [TEXT, BYTES],
      run: async ({ registry, params, headers }) => {
        const place = await revisionIn(registry, family, params)
        return answerFile(await findFile(place, params['path'] ?? ''), headers['if-none-match'])
      },
    }),
  ]
}

const filePage = z.object({
  limit: z
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(MOST_FILES, `must be at most ${MOST_FILES}; follow \`next\` for more`)
    .optional(),
  next: z.string().min(1).optional(),
})

const TEXT = 'text/plain; charset=utf-8'
const BYTES = 'application/octet-stream'

/** A browser shows a file as text or downloads it, so that no content runs under the server's origin. */
function answerFile(
  { oid, name, bytes }: Awaited<ReturnType<typeof findFile>>,
  ifNoneMatch: string | undefined,
): EndpointResponse {
  const etag = `"${oid}"`
  const isText = isUtf8(bytes) && !bytes.includes(0)
  const headers = {
    'X-Content-Type-Options': 'nosniff',
    ...(isText ? {} : { 'Content-Disposition': `attachment; filename*=UTF-8''${inHeader(name)}` }),
  }
  if (etagMatches(ifNoneMatch, etag)) return { headers, etag, notModified: true }
  return {
    headers: { ...headers, 'Content-Length': String(bytes.length) },
    etag,
    stream: pieces(bytes),
    contentType: isText ? TEXT : BYTES,
  }
}

const BYTES_PER_CHUNK = 64 * 1024

async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += BYTES_PER_CHUNK) yield bytes.subarray(at, at + BYTES_PER_CHUNK)
}

/** Encodes a name for a header (RFC 8187). */
function inHeader(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (it) => `%${it.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
