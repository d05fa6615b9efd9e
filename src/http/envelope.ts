import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Refusal } from '../errors.ts'
import type { Json } from '../json/json.ts'
import { ExactNumber, getKey, isJsonArray, keysOf } from '../json/json.ts'
import { setOwn } from '../json/set-own.ts'

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
 * for are ignored (ruling 1.6). One member under two names must say the same under both.
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
      const name = nameSent(body, names)
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
    return Object.assign(value, { sentAs }) as EnvelopeValue<P>
  }
  return z.object(shape).transform(read)
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

/**
 * A parsed body made ready for a schema. Envelopes, their members and what is listed in those become plain objects (an odd
 * key like `7` or `__proto__` there is an unknown key, as any other), numbers written as `1.0` plain numbers; free-form
 * values deeper down stay exact. Where `null` equals absent (ruling 1.6; not in PUT), nulls at these levels are left out.
 */
export function plainEnvelope(body: Json | undefined, options: { readonly keepNulls: boolean }): unknown {
  return plainLevel(body, options.keepNulls, 2)
}

function plainLevel(value: Json | undefined, keepNulls: boolean, levels: number): unknown {
  if (value instanceof ExactNumber) return asPlainNumber(value)
  if (levels === 0 || value === null || typeof value !== 'object') return value
  // A list takes no level of its own: a reference in one is read like a reference by itself.
  if (isJsonArray(value)) {
    if (value.length > MOST_IN_ENVELOPE) throw tooMany('A list', value.length, 'items')
    return value.map((item) => plainLevel(item, keepNulls, levels))
  }
  const plain: Record<string, unknown> = {}
  const keys = keysOf(value)
  if (keys.length > MOST_IN_ENVELOPE) throw tooMany('An object', keys.length, 'members')
  for (const key of keys) {
    const member = getKey(value, key)
    if (member !== null || keepNulls) setOwn(plain, key, plainLevel(member, keepNulls, levels - 1))
  }
  return plain
}

/** No list of references or ids, and no record, is longer by honest means; a schema looks at each, all in one go. */
const MOST_IN_ENVELOPE = 10_000

function tooMany(what: string, count: number, parts: string): Refusal {
  return new Refusal(
    'limit_exceeded',
    `${what} in the envelope of the request has ${count} ${parts}; at most ${MOST_IN_ENVELOPE} are taken there. Send fewer.`,
    { details: { limit: MOST_IN_ENVELOPE } },
  )
}

/** `1.0` and `1e2` are the numbers they say; what a double cannot hold stays what it is, and fails as a number. */
function asPlainNumber(exact: ExactNumber): unknown {
  const number = Number(exact.literal)
  return Number.isSafeInteger(number) ? number : exact
}
