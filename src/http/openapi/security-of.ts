import { SCOPES } from '../../access/scope.ts'
import type { Endpoint } from '../routing/endpoint.ts'

/** The `security` of an operation: any of the keys that may ask it. Undefined where that is the document's own, a key that may read. */
export function securityOf({ scope, orScope, callerIn }: Endpoint): object[] | undefined {
  if (callerIn) return []
  const scopes = [scope, ...(orScope === undefined ? [] : [orScope].flat())]
  if (scopes.join() === 'read') return undefined
  return scopes.length === SCOPES.length ? [{ ApiKey: [] }] : scopes.map((it) => ({ ApiKey: [it] }))
}
