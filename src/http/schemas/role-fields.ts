import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { declare } from '../routing/known-fields.ts'
import { roleFlagsSchema } from './request-schemas.ts'

/**
 * The role flags of an artifact in requests: together under `flags`, or each as a separate field (interface
 * 1.4).
 */

type Flags = Readonly<Record<string, boolean>>

/** The schema of `flags` with only these names; `unused` names may be sent back without effect. */
export function flagsNamed(names: readonly string[], unused: readonly string[] = []): typeof roleFlagsSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]))
  const shape = { type: 'object', properties, additionalProperties: false }
  return declare(roleFlagsSchema.clone().meta(shape), { members: names, unused })
}

/**
 * A record that also has each role as a field; these are merged into `flags`. Refuses a role given twice with
 * different values.
 */
export function withRoles<S extends z.ZodRawShape>(
  shape: S,
  roles: readonly string[],
): z.ZodType<z.infer<z.ZodObject<S>>> {
  const fields = Object.fromEntries(roles.map((role) => [role, z.boolean().optional()]))
  return z.object({ ...shape, ...fields }).transform((sent: Readonly<Record<string, unknown>>) => {
    const { rest, said } = apart(sent, roles)
    const flags = rest['flags'] as Flags | undefined // every such record has this schema
    const whole = said && { ...flags, ...said }
    // The rest has the shape above.
    return (whole ? { ...rest, flags: whole } : rest) as z.infer<z.ZodObject<S>>
  })
}

/**
 * The same for an edit. Roles given as fields are returned in `said` and edited one by one; null clears a
 * role.
 */
export function withRoleEdits<S extends z.ZodRawShape>(
  shape: S,
  roles: readonly string[],
): z.ZodType<z.infer<z.ZodObject<S>> & { readonly said: Flags | undefined }> {
  const fields = Object.fromEntries(roles.map((role) => [role, z.boolean().nullish()]))
  return z.object({ ...shape, ...fields }).transform((sent: Readonly<Record<string, unknown>>) => {
    const { rest, said } = apart(sent, roles)
    return { ...rest, said } as z.infer<z.ZodObject<S>> & { readonly said: Flags | undefined } // as above
  })
}

/** Splits off the role fields; `said` is undefined if there are none. */
function apart(
  sent: Readonly<Record<string, unknown>>,
  roles: readonly string[],
): { readonly rest: Readonly<Record<string, unknown>>; readonly said: Flags | undefined } {
  const named = roles.filter((role) => sent[role] !== undefined)
  if (named.length === 0) return { rest: sent, said: undefined }
  const said = Object.fromEntries(named.map((role) => [role, sent[role] === true]))
  const flags = (sent['flags'] ?? {}) as Flags // parsed with the same schema
  for (const [role, value] of Object.entries(said)) {
    if ((flags[role] ?? value) === value) continue
    throw new Refusal(
      'contradictory_request',
      `${role} is ${value}, but flags.${role} is ${flags[role]}: they are one and the same. Send one of them.`,
    )
  }
  const rest = Object.fromEntries(Object.entries(sent).filter(([name]) => !named.includes(name)))
  return { rest, said }
}
