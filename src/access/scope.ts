/** What a key may do. `admin` includes the others. */
export const SCOPES = ['read', 'write', 'deploy', 'invoke', 'admin'] as const

export type Scope = (typeof SCOPES)[number]

/** Whether a key with `held` may do what needs `needed`. */
export function grants(held: readonly Scope[], needed: Scope): boolean {
  return held.includes(needed) || held.includes('admin')
}
