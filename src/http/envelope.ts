import { z } from 'zod'
import type { Json } from '../json/json.ts'
import { ExactNumber, ExactObject } from '../json/json.ts'

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
 * The schema of a request body whose members each have several accepted names (rulings section 2). Members that nobody asks
 * for are ignored (ruling 1.6).
 */
export function envelope<const P extends Readonly<Record<string, EnvelopePart>>>(
  parts: P,
): z.ZodType<EnvelopeValue<P>> {
  const shape: Record<string, z.ZodType> = {}
  for (const { names, schema } of Object.values(parts))
    for (const name of names) shape[name] ??= schema.optional()
  const read = (body: Readonly<Record<string, unknown>>, context: z.RefinementCtx): EnvelopeValue<P> => {
    const value: Record<string, unknown> = {}
    const sentAs: Record<string, string> = {}
    for (const [key, { names, required }] of Object.entries(parts)) {
      const name = names.find((candidate) => body[candidate] !== undefined)
      if (name !== undefined) value[key] = body[name]
      sentAs[key] = name ?? names[0] ?? key
      if (name === undefined && required) {
        context.addIssue({
          code: 'custom',
          path: [sentAs[key]],
          message: 'this field is required',
          params: { type: 'missing' },
        })
      }
    }
    // The shape above was made from the same parts, key by key.
    return { ...value, sentAs } as EnvelopeValue<P>
  }
  return z.object(shape).transform(read)
}

/** The first of several spellings of one field that was sent. */
export function firstOf<T>(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): T | undefined {
  for (const name of names) if (record[name] !== undefined) return record[name] as T // same schema for every spelling
  return undefined
}

/**
 * A parsed body made ready for a schema. Envelopes and their members become plain objects (an odd key like `7` or
 * `__proto__` there is an unknown key, and ignored), numbers written as `1.0` plain numbers; free-form values deeper down
 * stay exact. Where `null` equals absent (ruling 1.6; not in PUT), nulls at these two levels are left out.
 */
export function plainEnvelope(body: Json | undefined, options: { readonly keepNulls: boolean }): unknown {
  return plainLevel(body, options.keepNulls, 2)
}

function plainLevel(value: Json | undefined, keepNulls: boolean, levels: number): unknown {
  if (value instanceof ExactNumber) return asPlainNumber(value)
  if (levels === 0 || value === null || typeof value !== 'object') return value
  if (Array.isArray(value)) return value.map((item) => plainLevel(item, keepNulls, levels - 1))
  const plain: Record<string, unknown> = {}
  const entries = value instanceof ExactObject ? value : Object.entries(value)
  for (const [key, member] of entries) {
    if (key === '__proto__' || (member === null && !keepNulls)) continue
    plain[key] = plainLevel(member, keepNulls, levels - 1)
  }
  return plain
}

/** `1.0` and `1e2` are the numbers they say; what a double cannot hold stays what it is, and fails as a number. */
function asPlainNumber(exact: ExactNumber): unknown {
  const number = Number(exact.literal)
  return Number.isSafeInteger(number) ? number : exact
}
