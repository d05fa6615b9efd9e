import { SCOPES } from '../access/scope.ts'
import type { Endpoint } from './endpoint.ts'

/** What an endpoint needs that any key may ask: it answers the same in every project, and tells nothing of any. */
export const anyScope: Pick<Endpoint, 'scope' | 'orScope' | 'showsAll'> = {
  scope: 'read',
  showsAll: true,
  orScope: SCOPES.filter((scope) => scope !== 'read'),
}
