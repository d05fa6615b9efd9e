import { Refusal } from '../../errors.ts'
import { apiKeyIn } from '../middleware/authenticate.ts'

/**
 * The key in an Authorization header of a git client: `ApiKey <key>` as everywhere, or Basic (RFC 7617) with any user name and
 * the key as password, which is what git asks its user for.
 */
export function gitToken(header: string | undefined): string {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(header ?? '') ?? []
  if (encoded === undefined) return apiKeyIn(header)
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  const password = pair.slice(pair.indexOf(':') + 1)
  if (pair.includes(':') && password !== '') return password
  throw new Refusal(
    'missing_key',
    'The password is empty: give any user name, and an API key as the password.',
  )
}
