import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../errors.ts'

/**
 * The key that a request carries (interface 2.3): in `Authorization: ApiKey <key>` or `Authorization: Bearer <key>`, or alone in `X-API-Key`.
 * Beside the latter, an Authorization header of another kind is somebody else's, such as a proxy's, and another key is refused as
 * `contradictory_request`. Refuses with `missing_key` where there is none, and says what is there in its place.
 */
export function apiKeyIn({ authorization = '', 'x-api-key': alone }: IncomingHttpHeaders): string {
  const [, inHeader] = /^(?:ApiKey|Bearer) +(\S+)$/i.exec(authorization) ?? []
  if (alone === undefined) return inHeader ?? refuse(authorization)
  const key = String(alone)
  if (!/^\S+$/.test(key)) throw noKey(`The X-API-Key header ${key === '' ? 'is empty' : 'is not one key'}`)
  if (inHeader === undefined || inHeader === key) return key
  throw new Refusal(
    'contradictory_request',
    'The headers Authorization and X-API-Key carry two different keys: send one of them.',
  )
}

/** Whether a request names a key, be it a good one or not. */
export function bringsKey({ authorization, 'x-api-key': alone }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || alone !== undefined
}

function refuse(authorization: string): never {
  if (authorization.trim() === '') throw noKey('The request carries no key')
  const scheme = /^[A-Za-z]+(?= )/.exec(authorization)?.[0]
  const isOurs = /^(?:ApiKey|Bearer)$/i.test(scheme ?? '')
  const what =
    scheme === undefined || isOurs
      ? 'is not ApiKey and one key'
      : `has the scheme ${scheme}, not ApiKey and one key`
  throw noKey(`The Authorization header ${what}`)
}

function noKey(what: string): Refusal {
  return new Refusal(
    'missing_key',
    `${what}: send the header "Authorization: ApiKey <key>" (or "Bearer <key>", or "X-API-Key: <key>").`,
  )
}
