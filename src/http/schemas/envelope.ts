import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import { spellingOf } from './spelling.ts'

/** One member of a request body: the names it may come under (the first is ours) and what it must be. */
export interface EnvelopePart<T extends z.ZodType = z.ZodType> {
  readonly names: readonly string[]
  readonly schema: T
  readonly required?: boolean
}

type PartValue<P> = P extends { readonly schema: infer T extends z.ZodType; readonly required: true }
  ? z.infer<T>
  : P extends { readonly schema: infer T extends z.ZodType }
    ? z.infer<T> | undefined
    : never

/** What an envelope reads: each part's value, and the name each came under. */
export type EnvelopeValue<P extends Readonly<Record<string, EnvelopePart>>> = {
  readonly [K in keyof P]: PartValue<P[K]>
} & { readonly sentAs: Readonly<Record<keyof P, string>> }

/**
 * The schema of a request body whose members each have several accepted names (interface 2.5). Members that nobody asks
 * for are left to the check of unknown fields (interface 2.10). One member under two names must say the same under both.
 */
export function envelope<const P extends Readonly<Record<string, EnvelopePart>>>(
  parts: P,
): z.ZodType<EnvelopeValue<P>> {
  const shape: Record<string, z.ZodType> = {}
  const required: string[] = []
  for (const {
    names: [first, ...others],
    schema,
    required: isRequired,
  } of Object.values(parts)) {
    if (first === undefined) continue
    shape[first] ??= schema.optional()
    for (const name of others) shape[name] ??= spellingOf(schema.optional(), first)
    if (isRequired) required.push(first)
  }
  const read = (body: Readonly<Record<string, unknown>>, context: z.RefinementCtx): EnvelopeValue<P> => {
    const value: Record<string, unknown> = {}
    const sentAs: Record<string, string> = {}
    for (const [key, { names, required }] of Object.entries(parts)) {
      const name = nameSent(body, names)
      if (name !== undefined) value[key] = body[name]
      sentAs[key] = name ?? names[0] ?? key
      if (name === undefined && required) context.addIssue(missing(sentAs[key]))
    }
    // The shape above was made from the same parts, key by key.
    return Object.assign(value, { sentAs }) as EnvelopeValue<P>
  }
  // Under any of its names a part is there; the document shows the first.
  return z
    .object(shape)
    .meta(required.length > 0 ? { required } : {})
    .transform(read)
}

function missing(name: string | undefined) {
  const message = 'this field is required'
  return { code: 'custom' as const, path: [name ?? ''], message, params: { type: 'missing' } }
}

/** What was sent under one of several spellings of a field. */
export function firstOf<T>(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): T | undefined {
  const name = nameSent(record, names)
  return name === undefined ? undefined : (record[name] as T) // same schema for every spelling
}

/** The name that a field came under. To take one of two values that differ would drop the other in silence. */
function nameSent(record: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const [first, ...others] = names.filter((name) => record[name] !== undefined)
  if (first === undefined) return undefined
  const other = others.find((name) => !isDeepStrictEqual(record[name], record[first]))
  if (other === undefined) return first
  throw new Refusal(
    'contradictory_request',
    `${first} and ${other} are two names of one field, but they say different things. Send one of them.`,
  )
}
