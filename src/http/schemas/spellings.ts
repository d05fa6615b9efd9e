import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { Refusal, invalid } from '../../errors.ts'
import type { Surface } from '../../registry/families.ts'
import type { Reference, References } from '../../registry/registries.ts'
import type { RetrieveReferences } from '../../registry/revisions.ts'
import { queryParents } from './queries/query-parameters.ts'
import { deploymentKey, reference, uuid } from './request-schemas.ts'

/** The words of one surface in requests and answers (interface 2.5). */
export interface SurfaceNames {
  /** Accepted singulars, the surface's own first: `application`, `workflow`, … */
  readonly singulars: readonly string[]
  /** Singulars under which ids and slugs are answered: the family's and the surface's own. */
  readonly answered: readonly string[]
  /** The parents of a record, from the artifact down to the revision, with their names. */
  readonly parents: readonly ParentNames[]
}

interface ParentNames {
  readonly level: 'artifact' | 'variant' | 'revision'
  /** Its name in sentences. */
  readonly name: string
  /** Every accepted name for its id, and for a reference in place of the id. */
  readonly ids: readonly string[]
  readonly references: readonly string[]
}

type Singulars = Pick<SurfaceNames, 'singulars'>

/** The names of a surface, given all surfaces over the same family: existing clients mix their spellings. */
export function surfaceNames(surface: Surface, siblings: readonly Surface[]): SurfaceNames {
  const others = siblings.map((it) => it.singular).filter((name) => name !== surface.singular)
  const singulars = [surface.singular, ...others]
  const parentNames = (level: ParentNames['level'], suffix: ParentLevel): ParentNames => ({
    level,
    name: `${surface.singular}${suffix}`,
    ids: idSpellings({ singulars }, suffix),
    references: spellings({ singulars }, `${suffix}_ref`),
  })
  return {
    singulars,
    answered: [...new Set([surface.family.name, surface.singular])],
    parents: [
      parentNames('artifact', ''),
      parentNames('variant', '_variant'),
      parentNames('revision', '_revision'),
    ],
  }
}

/** `suffix` behind every accepted singular: `application_variant_ref`, `workflow_variant_ref`, … */
export function spellings(names: Singulars, suffix: string): string[] {
  return names.singulars.map((singular) => `${singular}${suffix}`)
}

/** Every accepted name for a parent's id: `application_variant_id`, …, `variant_id` (level `_variant`). */
export function idSpellings(names: Singulars, level: ParentLevel): string[] {
  return [...spellings(names, `${level}_id`), level === '' ? 'artifact_id' : `${level.slice(1)}_id`]
}

/** The word with its article: `an application`, `a workflow`. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`
}

/** The description of a member in the OpenAPI document that is only another name of a member; it is removed before the document is shown. */
export const SPELLING_OF = 'x-spelling-of'

/** The schema of another name of a member: the same, but left out of the OpenAPI document, which mentions it at the first name. */
export function spellingOf<T extends z.ZodType>(schema: T, first: string): T {
  return schema.meta({ ...schema.meta(), [SPELLING_OF]: first })
}

/** An optional field under any of its names, ours first; no field if there are no names. */
export function optionalUnder<T extends z.ZodType>(
  [first, ...others]: readonly string[],
  schema: T,
): Record<string, z.ZodOptional<T>> {
  if (first === undefined) return {}
  const fields = others.map((name) => [name, spellingOf(schema.optional(), first)] as const)
  return Object.fromEntries([[first, schema.optional()], ...fields])
}

/** One member of a request body: its accepted names (ours first), and its schema. */
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

/** The result of reading an envelope: the value of each part, and the name under which it came. */
export type EnvelopeValue<P extends Readonly<Record<string, EnvelopePart>>> = {
  readonly [K in keyof P]: PartValue<P[K]>
} & { readonly sentAs: Readonly<Record<keyof P, string>> }

/**
 * The schema of a request body whose members have several accepted names (interface 2.5). Unknown members are left to the check of unknown fields
 * (interface 2.10). A member that comes under two names must have equal values.
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
  const named = Object.entries(parts)
  const read = (body: Readonly<Record<string, unknown>>, context: z.RefinementCtx): EnvelopeValue<P> => {
    const value: Record<string, unknown> = {}
    const sentAs: Record<string, string> = {}
    for (const [key, { names, required }] of named) {
      const name = nameSent(body, names)
      sentAs[key] = name ?? names[0] ?? key
      if (name !== undefined) value[key] = body[name]
      else if (required) context.addIssue(missing(sentAs[key]))
    }
    // The shape above was made from the same parts, key by key.
    return Object.assign(value, { sentAs }) as EnvelopeValue<P>
  }
  // One of the names is enough; the OpenAPI document shows the first.
  return z
    .object(shape)
    .meta(required.length > 0 ? { required } : {})
    .transform(read)
}

function missing(name: string | undefined) {
  const message = 'this field is required'
  return { code: 'custom' as const, path: [name ?? ''], message, params: { type: 'missing' } }
}

/** The value of a field, under whichever of its names it came. */
export function firstOf<T>(
  record: Readonly<Record<string, unknown>>,
  names: readonly string[],
): T | undefined {
  const name = nameSent(record, names)
  return name === undefined ? undefined : (record[name] as T) // same schema for every spelling
}

/** The name under which a field came. Two different values are refused, because using one would drop the other without a word. */
function nameSent(record: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  let first: string | undefined
  for (const name of names) {
    if (record[name] === undefined) continue
    if (first === undefined) first = name
    else if (!isDeepStrictEqual(record[name], record[first])) throw contradictory(first, name)
  }
  return first
}

function contradictory(first: string, other: string): Refusal {
  return new Refusal(
    'contradictory_request',
    `${first} and ${other} are two names of one field, but they say different things. Send one of them.`,
  )
}

export type ParentLevel = '' | '_variant' | '_revision'

/** A variant or an artifact as a parent; it has no version. */
export const parent = reference
  .omit({ version: true })
  .meta({ description: '{id} or {slug}, in place of the id.' })

/** The fields of a record that name its parents: ids, or references in their place (interface 2.7). */
export function parentFields(
  names: Singulars,
  levels: readonly ParentLevel[],
): Record<string, z.ZodOptional> {
  const fields = levels.flatMap((level) => [
    optionalUnder(idSpellings(names, level), uuid),
    optionalUnder(spellings(names, `${level}_ref`), schemaOf(level)),
  ])
  return Object.assign({}, ...fields) as Record<string, z.ZodOptional>
}

/** The same references as parts of an envelope, beside the record. */
export function parentsBeside(names: Singulars) {
  const part = (level: ParentLevel) => ({ names: spellings(names, `${level}_ref`), schema: schemaOf(level) })
  return { artifactRef: part(''), variantRef: part('_variant'), revisionRef: part('_revision') }
}

/** The ids of a variant and an artifact as parts of an envelope, for requests without a record, and for query strings. */
export function parentIdsBeside(names: Singulars) {
  return {
    artifactId: { names: idSpellings(names, ''), schema: uuid },
    variantId: { names: idSpellings(names, '_variant'), schema: uuid },
  }
}

/** Reads a variant and an artifact out of the query string: ids, and references with a dot (`testset_variant_ref.slug=try`). */
export function parentsInQuery(names: Singulars) {
  return queryParents(
    [...idSpellings(names, ''), ...idSpellings(names, '_variant')],
    [...spellings(names, '_ref'), ...spellings(names, '_variant_ref')],
  )
}

/** What stands beside a record. */
export interface Beside {
  readonly artifactRef?: Reference | undefined
  readonly artifactId?: string | undefined
  readonly variantRef?: Reference | undefined
  readonly variantId?: string | undefined
  readonly revisionRef?: Reference | undefined
  readonly revisionId?: undefined
}

/** The parents of a record, named in it or beside it. Refuses different values. */
export function parentsOf(
  names: SurfaceNames,
  record: Readonly<Record<string, unknown>>,
  beside: Beside = {},
): References {
  const parents: Partial<Record<ParentNames['level'], Reference | undefined>> = {}
  for (const { level, name, ids, references } of names.parents) {
    const id = nameSent(record, ids)
    const inside = nameSent(record, references)
    const reference = beside[`${level}Ref`]
    const idBeside = beside[`${level}Id`]
    // Of the schemas above.
    let parent: Reference | undefined = id === undefined ? undefined : { id: record[id] as string }
    if (inside !== undefined) parent = oneReference(parent, record[inside] as Reference, name)
    if (reference) parent = oneReference(parent, reference, name)
    if (idBeside !== undefined) parent = oneReference(parent, { id: idBeside }, name)
    parents[level] = parent
  }
  return parents
}

/** The refusal of a record that names no parent. */
export function parentMissing(names: SurfaceNames, member: string, level: ParentLevel): Refusal {
  const name = `${names.singulars[0] ?? ''}${level}`
  return invalid(
    ['body', member, `${name}_id`],
    `this field is required: send the id of the parent, or ${name}_ref with its slug.`,
    'missing',
  )
}

function schemaOf(level: ParentLevel): z.ZodType<Reference> {
  return level === '_revision' ? reference : parent
}

function oneReference(one: Reference | undefined, other: Reference, name: string): Reference {
  if (!one) return other
  for (const field of ['id', 'slug', 'version'] as const) {
    const [left, right] = [one[field], other[field]]
    if (left === undefined || right === undefined || left === right) continue
    throw new Refusal(
      'contradictory_request',
      `${name} is named twice, by the ${field} ${left} and by the ${field} ${right}. Send one of them.`,
    )
  }
  return { ...one, ...Object.fromEntries(Object.entries(other).filter(([, it]) => it !== undefined)) }
}

/**
 * The references of one request (interface 5.3, 9.7): things of the surface, and an environment beside them. On the surface of environments, the
 * same names mean its own things.
 */
export function retrieveReferences(names: SurfaceNames): z.ZodType<RetrieveReferences> {
  const isOwn = names.singulars.includes('environment')
  const ofEnvironment = (name: string): string[] => (isOwn ? [] : [name])
  return envelope({
    artifact: { names: spellings(names, '_ref'), schema: reference },
    variant: { names: spellings(names, '_variant_ref'), schema: reference },
    revision: { names: spellings(names, '_revision_ref'), schema: reference },
    through: { names: ofEnvironment('environment_ref'), schema: reference },
    throughVariant: { names: ofEnvironment('environment_variant_ref'), schema: reference },
    throughRevision: { names: ofEnvironment('environment_revision_ref'), schema: reference },
    key: { names: ofEnvironment('key'), schema: deploymentKey },
  }).transform(({ artifact, variant, revision, key, ...sent }): RetrieveReferences => {
    const of = { artifact: sent.through, variant: sent.throughVariant, revision: sent.throughRevision }
    const environment = of.artifact || of.variant || of.revision ? of : undefined
    return { artifact, variant, revision, environment, key }
  })
}
