import { Refusal } from '../../errors.ts'

/** What a key may do. `admin` includes the others. */
export const SCOPES = ['read', 'write', 'deploy', 'invoke', 'annotate', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

/** For each scope, whether a key has it. */
export type Granted = Readonly<Record<Scope, boolean>>

/** What a key with these scopes may do. */
export function granted(scopes: readonly Scope[]): Granted {
  const has = (scope: Scope): boolean => scopes.includes(scope) || scopes.includes('admin')
  return {
    read: has('read'),
    write: has('write'),
    deploy: has('deploy'),
    invoke: has('invoke'),
    annotate: has('annotate'),
    admin: has('admin'),
  }
}

/** A caller with a key, and its permissions. */
interface Holder {
  readonly key: { readonly name: string; readonly scopes: readonly Scope[] }
  readonly may: Granted
}

/** Refuses with `missing_scope` (403) unless the caller's key has one of `enough`, directly or through `admin`. */
export function requireScope({ key, may }: Holder, enough: readonly Scope[]): void {
  if (enough.some((scope) => may[scope])) return
  const needed = enough.map((scope) => `"${scope}"`).join(' or ')
  throw new Refusal(
    'missing_scope',
    `The key "${key.name}" has the scopes ${key.scopes.join(', ')}; this request needs ${needed}. ` +
      `Use a key that has it.`,
    { details: { scope: enough[0] } },
  )
}
