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
  return scopes.length === SCOPES.length ? [{ ApiKey: [] }] : scopes.map((it) => ({ ApiKey: [it] }))
}
