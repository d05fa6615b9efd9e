import { SCOPES } from '../../access/scope.ts'
import type { Endpoint } from '../routing/endpoint.ts'

/** How keys are sent. What a session's cookie holds stands for a key, and no program sends it. */
export const SECURITY_SCHEMES = {
  ApiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'The word ApiKey, a space, and the key; on the page of `/docs` the key alone will do.',
  },
  Bearer: { type: 'http', scheme: 'bearer', description: 'The key as a bearer token: the same as ApiKey.' },
  KeyHeader: {
    type: 'apiKey',
    in: 'header',
    name: 'X-API-Key',
    description:
      'The key alone. Beside it an Authorization header may carry the same key, or what a proxy wants.',
  },
  Basic: {
    type: 'http',
    scheme: 'basic',
    description: 'For git: any user name, and the key as the password.',
  },
}

/** The `security` of an operation: any of the keys that may ask it. Undefined where that is the document's own, a key that may read. */
export function securityOf({ scope, orScope, callerIn }: Endpoint): object[] | undefined {
  if (callerIn) return []
  const scopes = [scope, ...(orScope === undefined ? [] : [orScope].flat())]
  if (scopes.join() === 'read') return undefined
  return scopes.length === SCOPES.length ? keyWith() : scopes.flatMap((scope) => keyWith(scope))
}

/** A key with this scope, sent in any of the ways there are; without a scope, any key. */
export function keyWith(...scopes: readonly string[]): object[] {
  return ['ApiKey', 'Bearer', 'KeyHeader'].map((way) => ({ [way]: scopes }))
}
