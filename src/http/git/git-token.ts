import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../errors.ts'
import { apiKeyIn } from '../request.ts'

/**
 * The key of a git client: as everywhere, or else from Basic authentication (RFC 7617) with any user name and the key as password, because
 * git asks its user for these.
 */
export function gitToken(headers: IncomingHttpHeaders): string {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(headers.authorization ?? '') ?? []
  if (encoded === undefined || headers['x-api-key'] !== undefined) return apiKeyIn(headers)
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  if (pair.includes(':') && password !== '') return password
  throw new Refusal(
    'missing_key',
    'The password is empty: give any user name, and an API key as the password.',
  )
}
