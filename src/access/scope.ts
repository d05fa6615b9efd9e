import { Refusal } from '../errors.ts'

/** What a key may do. `admin` includes the others. */
export const SCOPES = ['read', 'write', 'deploy', 'invoke', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

/** Whether a key with `held` may do what needs `needed`. */
export function grants(held: readonly Scope[], needed: Scope): boolean {
  return held.includes(needed) || held.includes('admin')
}

/** Who has a key, with what it may do. */
interface Holder {
  readonly key: { readonly name: string; readonly scopes: readonly Scope[] }
}

/** Refuses with `missing_scope` (403) unless the caller's key has one of `enough`, directly or through `admin`. */
export function requireScope({ key }: Holder, enough: readonly Scope[]): void {
  if (enough.some((scope) => grants(key.scopes, scope))) return
  const needed = enough.map((scope) => `"${scope}"`).join(' or ')
  throw new Refusal(
    'missing_scope',
    `The key "${key.name}" has the scopes ${key.scopes.join(', ')}; this request needs ${needed}. ` +
      `Use a key that has it.`,
    { details: { scope: enough[0] } },
  )
}
