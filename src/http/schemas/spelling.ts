import type { z } from 'zod'

/** What the OpenAPI document calls a member that is another's second name; nobody is shown it. */
export const SPELLING_OF = 'x-spelling-of'

/** The schema of a second name of a member: the same, and left out of the OpenAPI document, which names it beside the first. */
export function spellingOf<T extends z.ZodType>(schema: T, first: string): T {
  return schema.meta({ ...schema.meta(), [SPELLING_OF]: first })
}

/** An optional field under any of its names, the first of which is ours; no field without a name. */
export function optionalUnder<T extends z.ZodType>(
  [first, ...others]: readonly string[],
  schema: T,
): Record<string, z.ZodOptional<T>> {
  if (first === undefined) return {}
  const fields = others.map((name) => [name, spellingOf(schema.optional(), first)] as const)
  return Object.fromEntries([[first, schema.optional()], ...fields])
}
