import type { Json } from '../../json/json.ts'
import type { Surface } from '../../resources/surface.ts'
import type { FlagsEdit } from '../../versioning/artifacts/change-artifact.ts'
import type { Header } from '../../versioning/artifacts/artifact-record.ts'
import type { Warning } from '../../versioning/family/family.ts'
import type { Registry } from '../../versioning/registry.ts'
import type { FirstContent } from '../../versioning/artifacts/create-artifact.ts'
import type { TemplateChoice } from './chosen-template.ts'
import { chosenTemplate } from './chosen-template.ts'

/** What a create says of its artifact's first revision. */
export interface FirstRevisionRequest extends TemplateChoice {
  readonly data?: Json | undefined
  readonly message?: string | undefined
  readonly header: Header
}

/** What a new artifact begins with. */
export interface FirstRevision {
  /** Undefined when neither data nor a template was sent: then there is no revision (interface 4.1). */
  readonly revision: FirstContent | undefined
  readonly flags: Readonly<Record<string, boolean>> | undefined
  readonly warnings: readonly Warning[]
}

/**
 * The first revision and the roles of a new artifact, from its data, a template of the catalog, or both; `loc` is its place in the request.
 */
export async function firstRevision(
  registry: Registry,
  surface: Surface,
  request: FirstRevisionRequest,
  loc: readonly string[],
): Promise<FirstRevision> {
  const chosen = chosenTemplate(surface, request, loc)
  const { data, message, flags } = { ...request, ...chosen, message: request.message ?? chosen?.message }
  const roles = roleFlagsOf(surface, flags)
  if (data === undefined) return { revision: undefined, flags: roles, warnings: [] }
  const { payload, warnings } = await surface.family.accept(data, {
    loc: [...loc, 'data'],
    servicesBase: registry.servicesBase,
    limits: registry.limits,
    isExisting: registry.isExisting,
  })
  return { revision: { payload, message, header: request.header }, flags: roles, warnings }
}

/**
 * The role flags an artifact is to have: all of the family's as soon as one is given (the others false), and those that its
 * surface fixes, always (interface 1.6). Undefined when no role is given or fixed. Flags that are no roles
 * are derived, never set, and ignored.
 */
export function roleFlagsOf(
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
    flags: (before) => roleFlagsOf(surface, { ...(flags === undefined ? before : flags), ...said }) ?? null,
  }
}
