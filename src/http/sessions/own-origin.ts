import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../errors.ts'

/**
 * Whether a request was started by a page of this server, as the browser says: `Sec-Fetch-Site` where it sends that, else `Origin`, which has to
 * name the host that was asked or the one of `publicUrl`. Undefined where nothing says, as with every program that is no browser.
 */
export function isFromOwnPage(
  headers: IncomingHttpHeaders,
  publicUrl: string | undefined,
): boolean | undefined {
  const { origin, host, 'sec-fetch-site': site } = headers
  if (site !== undefined) return site === 'same-origin'
  if (origin === undefined) return undefined
  if (!URL.canParse(origin)) return false // null: of a page that hides it, or was sent here by another one
  const { host: from, origin: whole } = new URL(origin)
  return from === host || (publicUrl !== undefined && whole === new URL(publicUrl).origin)
}

/** Whether the browser calls this server by https: at its public address, or as the page that sends the request was loaded. */
export function isOverHttps({ origin = '' }: IncomingHttpHeaders, publicUrl: string | undefined): boolean {
  return publicUrl?.startsWith('https:') === true || origin.startsWith('https:')
}

/** A 403 for what a page of another server, or nobody known, has a signed-in browser send. */
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
