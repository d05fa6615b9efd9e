import type { Json } from '../../base/json.ts'
import type { Surface, Warning } from '../../registry/families.ts'
import type { FlagsEdit, Header, FirstContent } from '../../registry/artifacts.ts'
import type { Registry } from '../../registry/registries.ts'
import type { TemplateChoice } from './chosen-template.ts'
import { chosenTemplate } from './chosen-template.ts'

/** The part of a create request about the first revision. */
export interface FirstRevisionRequest extends TemplateChoice {
  readonly data?: Json | undefined
  readonly message?: string | undefined
  readonly header: Header
}

/** The initial content of a new artifact. */
export interface FirstRevision {
  /** Undefined without data and template: then there is no revision (interface 4.1). */
  readonly revision: FirstContent | undefined
  readonly flags: Readonly<Record<string, boolean>> | undefined
  readonly warnings: readonly Warning[]
}

/**
 * The first revision and roles of a new artifact, from its data, a catalog template, or both; `loc` is its
 * place in the request.
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
 * The role flags of an artifact: all of the family's if any is given (the others false), and always those its
 * surface fixes (interface 1.6). Undefined if no role is given or fixed. Other flags are derived, so they are
 * ignored.
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
 * Computes an edit of an artifact's flags: `flags` replaces them all (null clears them), then each role given
 * as a field is applied; empty if neither was sent.
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
