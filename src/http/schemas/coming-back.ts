import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { FieldProblem } from '../../errors.ts'
import { problemsRefusal } from '../../registry/reading.ts'
import type { VariantLocation } from '../../registry/revisions.ts'
import type { SurfaceContext } from '../surface-context.ts'
import { shown } from './request-schemas.ts'
import type { SurfaceNames } from './spellings.ts'
import { parentNames } from './unused-fields.ts'

/** Fields of a record, as they were sent or as they are answered. */
type Fields = Readonly<Record<string, unknown>>

/** Where a request names its record, and whose clients it comes from. */
interface SentRecord {
  readonly loc: readonly string[]
  /** Clients of the existing service send what they like there (interface 2.30). */
  readonly isExisting: boolean
}

/** Members of a schema for fields that may come back as they were answered. */
export function comingBack(names: readonly string[]): Readonly<Record<string, z.ZodOptional<z.ZodUnknown>>> {
  return Object.fromEntries(names.map((name) => [name, z.unknown().meta(AS_ANSWERED).optional()]))
}

const AS_ANSWERED = { readOnly: true, description: 'May come back as it was answered; it never changes.' }

/** A record that was sent without these fields, and these. */
export function apart<T extends Fields>(
  sent: T,
  names: readonly string[],
): { readonly rest: T; readonly fixed: Fields } {
  const entries = Object.entries(sent)
  return {
    // Those that the caller reads are none of them.
    rest: Object.fromEntries(entries.filter(([name]) => !names.includes(name))) as T,
    fixed: Object.fromEntries(entries.filter(([name]) => names.includes(name))),
  }
}

/**
 * Refuses fixed fields whose value is not the one that is answered: `slug_is_fixed`, or `read_only_field` for any other (interface 2.11). To take
 * them and do nothing would say that something was done.
 */
export function assertComesBack(fixed: Fields, answered: Fields, { loc, isExisting }: SentRecord): void {
  if (isExisting) return
  const problems = Object.entries(fixed).flatMap(([name, value]): FieldProblem[] => {
    if (value === undefined || isSame(value, answered[name])) return []
    return [{ loc: [...loc, name], ...problemOf(name, value, answered[name]) }]
  })
  const isSlug = problems.some(({ type }) => type === SLUG_IS_FIXED)
  if (problems.length > 0) throw problemsRefusal(isSlug ? SLUG_IS_FIXED : 'read_only_field', problems)
}

const SLUG_IS_FIXED = 'slug_is_fixed'

function problemOf(name: string, value: unknown, answered: unknown): Pick<FieldProblem, 'msg' | 'type'> {
  if (name === 'slug') {
    const msg = `a slug never changes: it stays ${shown(answered)}. Leave it out; to have ${shown(value)}, create or fork under that slug`
    return { msg, type: SLUG_IS_FIXED }
  }
  const now = answered === undefined ? 'and has no value here' : `and is ${shown(answered)}`
  const msg = `the server makes this field, ${now}, not ${shown(value)}. Leave it out, or send it as it was answered`
  return { msg, type: 'read_only_field' }
}

/** Ids have two cases, and versions two types; null is what is not there. */
function isSame(sent: unknown, answered: unknown): boolean {
  if (isDeepStrictEqual(sent ?? undefined, answered)) return true
  const isScalar = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  return isScalar(sent) && isScalar(answered) && String(sent).toLowerCase() === String(answered).toLowerCase()
}

/** What a record belongs to. */
interface Belongs {
  readonly artifact: Pick<VariantLocation['artifact'], 'id' | 'slug' | 'record'>
  readonly variant?: Pick<VariantLocation['variant'], 'id' | 'slug'>
}

/**
 * Does the same for what a record of a variant or a revision belongs to, under every name that a request may use for it. Also checks the roles of
 * its artifact, which the record shows among its flags.
 */
export function assertBelongs(
  { names, surface, isExisting }: Pick<SurfaceContext, 'names' | 'surface' | 'isExisting'>,
  { artifact, variant }: Belongs,
  sent: Fields & { readonly flags?: Readonly<Record<string, boolean>> | null | undefined },
  member: string,
): void {
  const loc = ['body', member]
  const parents = {
    ...parentValues(names, '', artifact),
    ...(variant && parentValues(names, '_variant', variant)),
  }
  assertComesBack(apart(sent, Object.keys(parents)).fixed, parents, { loc, isExisting })
  const { roles } = surface.family
  const flags = Object.fromEntries(roles.map((role) => [role, artifact.record.flags?.[role] ?? false]))
  const { fixed } = apart(sent.flags ?? {}, roles)
  assertComesBack(fixed, flags, { loc: [...loc, 'flags'], isExisting })
}

function parentValues(
  names: SurfaceNames,
  level: '' | '_variant',
  { id, slug }: { readonly id: string; readonly slug: string },
): Fields {
  return Object.fromEntries(
    parentNames(names, level).flatMap((name) => [
      [`${name}_id`, id],
      [`${name}_slug`, slug],
    ]),
  )
}
