import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../errors.ts'

/**
 * Whether a page of this server started a request, according to the browser: by `Sec-Fetch-Site` if present,
 * else by `Origin`, which must match the request's host or that of `publicUrl`. Undefined without either, as
 * for programs that are no browsers.
 */
export function isFromOwnPage(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): boolean | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return undefined
  if (!URL.canParse(origin)) return false // "null": a page that hides its origin, or a cross-origin redirect
  const { host: from, origin: whole } = new URL(origin)
  return from === host || (publicUrl !== undefined && whole === new URL(publicUrl).origin)
}

/** Whether the browser uses https: by the public address, or by the origin of the requesting page. */
export function isOverHttps({ origin = '' }: IncomingHttpHeaders, publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') === true || origin.startsWith('https:')
}

/** The 403 for a signed-in browser's request from another server's page, or from an unknown one. */
export function foreignOrigin({ origin, 'sec-fetch-site': site }: IncomingHttpHeaders): Refusal {
  const from =
    origin === undefined
      ? site === undefined
        ? 'no page that it names'
        : `a ${site} page`
      : origin.slice(0, 200)
  return new Refusal(
    'foreign_origin',
    `The request comes from ${from}, and a session is good for requests of this server's own pages alone. Send an API key in its place ` +
      '("Authorization: ApiKey <key>"); where the server is behind a proxy, set PUBLIC_URL to the address that browsers know.',
  )
}
