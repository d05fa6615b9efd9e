import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Refusal } from '../../errors.ts'
import type { Json } from '../../json/json.ts'
import { ExactNumber, getKey, isJsonArray, keysOf } from '../../json/json.ts'
import { setOwn } from '../../json/json-values.ts'
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
  // Under any of its names a part is there; the document shows the first.
  return z
    .object(shape)
    .meta(required.length > 0 ? { required } : {})
    .transform(read)
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
 * values deeper down stay exact. Where `null` equals absent (interface 2.10; not in PUT), nulls at these levels are left out.
 */
export function plainEnvelope(body: Json | undefined, options: { readonly keepNulls: boolean }): unknown {
  let left = MOST_IN_ENVELOPES
  return level(body, 2, false)

  function level(value: Json | undefined, levels: number, isListed: boolean): unknown {
    if (value instanceof ExactNumber) return asPlainNumber(value)
    if (levels === 0 || value === null || typeof value !== 'object') return value
    // A list takes no level of its own: a reference in one is read like a reference by itself. No list of an envelope holds lists.
    if (isJsonArray(value)) {
      if (isListed) return value
      count('A list', value.length, 'items')
      return value.map((item) => level(item, levels, true))
    }
    const plain: Record<string, unknown> = {}
    const keys = keysOf(value)
    count('An object', keys.length, 'members')
    for (const key of keys) {
      const member = getKey(value, key)
      if (member !== null || options.keepNulls) setOwn(plain, key, level(member, levels - 1, false))
    }
    return plain
  }

  function count(what: string, number: number, parts: string): void {
    if (number > MOST_IN_ENVELOPE) throw tooMany(`${what} in the envelope`, number, parts, MOST_IN_ENVELOPE)
    left -= number
    if (left < 0)
      throw tooMany('The envelope', MOST_IN_ENVELOPES - left, 'items and members', MOST_IN_ENVELOPES)
  }
}

/** No list of references or ids, and no record, is longer by honest means; a schema looks at each, all in one go. */
const MOST_IN_ENVELOPE = 10_000
/** In all of its lists and records. */
const MOST_IN_ENVELOPES = 100_000

function tooMany(what: string, count: number, parts: string, limit: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `${what} of the request has ${count} ${parts} or more; at most ${limit} are taken there. Send fewer.`,
    { details: { limit } },
  )
}

/** `1.0` and `1e2` are the numbers they say; what a double cannot hold stays what it is, and fails as a number. */
function asPlainNumber(exact: ExactNumber): unknown {
  const number = Number(exact.literal)
  return Number.isSafeInteger(number) ? number : exact
}
