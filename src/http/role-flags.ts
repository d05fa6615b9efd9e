import type { Surface } from '../resources/surface.ts'
import type { FlagsEdit } from '../versioning/artifacts/edit-artifact.ts'

/**
 * The role flags an artifact is to have: all of the family's as soon as one is given (the others false), and those that its
 * surface fixes, always (contract/workflows 2.1, ruling 4). Undefined when no role is given or fixed. Flags that are no roles
 * are derived, never set, and ignored.
 */
export function roleFlags(
  { family, fixedFlags }: Surface,
  given: Readonly<Record<string, boolean>> | undefined,
): Readonly<Record<string, boolean>> | undefined {
  const flags = { ...given, ...fixedFlags }
  if (!family.roles.some((role) => flags[role] !== undefined)) return undefined
  return Object.fromEntries(family.roles.map((role) => [role, flags[role] ?? false]))
}

/**
 * What an edit makes of an artifact's flags: those under `flags` in place of all it has (null clears them), then each role that is
 * said by itself; nothing if neither was sent.
 */
export function editedRoles(
  surface: Surface,
  flags: Readonly<Record<string, boolean>> | null | undefined,
  said: Readonly<Record<string, boolean>> | undefined,
): { readonly flags?: FlagsEdit } {
  if (flags === undefined && said === undefined) return {}
  return {
    flags: (before) => roleFlags(surface, { ...(flags === undefined ? before : flags), ...said }) ?? null,
  }
}
