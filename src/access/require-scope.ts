import { Refusal } from '../errors.ts'
import type { Caller } from './caller.ts'
import { type Scope, grants } from './scope.ts'

/** Refuses with `missing_scope` (403) unless the caller's key has one of `enough`, directly or through `admin`. */
export function requireScope(caller: Caller, enough: readonly Scope[]): void {
  if (enough.some((scope) => grants(caller.key.scopes, scope))) return
  const needed = enough.map((scope) => `"${scope}"`).join(' or ')
  throw new Refusal(
    'missing_scope',
    `The key "${caller.key.name}" has the scopes ${caller.key.scopes.join(', ')}; this request needs ${needed}. ` +
      `Use a key that has it.`,
    { details: { scope: enough[0] } },
  )
}
