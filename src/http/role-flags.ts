import type { Surface } from '../resources/surface.ts'

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
