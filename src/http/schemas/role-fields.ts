import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { declare } from '../routing/known-fields.ts'
import { roleFlagsSchema } from './request-schemas.ts'

/** The role flags of an artifact, as requests may say them: together under `flags`, or each as a field beside it (interface 1.4). */

type Flags = Readonly<Record<string, boolean>>

/** `flags` of these names and no others; those that mean nothing there may be sent back all the same. */
export function flagsNamed(names: readonly string[], unused: readonly string[] = []): typeof roleFlagsSchema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'boolean' }]))
  const shape = { type: 'object', properties, additionalProperties: false }
  return declare(roleFlagsSchema.clone().meta(shape), { members: names, unused })
}

/** A record in which each role is a field, too: what they say is put into `flags`. Refuses a role that is said twice, and differently. */
export function withRoles<S extends z.ZodRawShape>(
  shape: S,
  roles: readonly string[],
): z.ZodType<z.infer<z.ZodObject<S>>> {
  const fields = Object.fromEntries(roles.map((role) => [role, z.boolean().optional()]))
  return z.object({ ...shape, ...fields }).transform((sent: Readonly<Record<string, unknown>>) => {
    const { rest, said } = apart(sent, roles)
    const flags = rest['flags'] as Flags | undefined // of the schema of every such record
    const whole = said && { ...flags, ...said }
    // What is left is of the shape above.
    return (whole ? { ...rest, flags: whole } : rest) as z.infer<z.ZodObject<S>>
  })
}

/** The same of an edit, in which each role that is said as a field, in `said`, is edited by itself; null clears it. */
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

/** The record without its role fields, and what these say; undefined if there are none. */
function apart(
  sent: Readonly<Record<string, unknown>>,
  roles: readonly string[],
): { readonly rest: Readonly<Record<string, unknown>>; readonly said: Flags | undefined } {
  const named = roles.filter((role) => sent[role] !== undefined)
  if (named.length === 0) return { rest: sent, said: undefined }
  const said = Object.fromEntries(named.map((role) => [role, sent[role] === true]))
  const flags = (sent['flags'] ?? {}) as Flags // read by the same schema
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
