import { z } from 'zod'
import { Refusal, invalid } from '../../errors.ts'
import type { Reference, References } from '../../versioning/reference.ts'
import { firstOf } from './envelope.ts'
import { queryParents } from './queries/query-parameters.ts'
import { reference, uuid } from './request-schemas.ts'
import { optionalUnder } from './spelling.ts'
import type { SurfaceNames } from './surface-names.ts'
import { idSpellings, spellings } from './surface-names.ts'

export type ParentLevel = '' | '_variant' | '_revision'

/** A variant or an artifact as a parent: no version says more of it. */
export const parent = reference
  .omit({ version: true })
  .meta({ description: '{id} or {slug}, in place of the id.' })

/** The fields of a record that name what it belongs to: ids, or references in their place (interface 2.7). */
export function parentFields(
  names: SurfaceNames,
  levels: readonly ParentLevel[],
): Record<string, z.ZodOptional> {
  const fields = levels.flatMap((level) => [
    optionalUnder(idSpellings(names, level), uuid),
    optionalUnder(spellings(names, `${level}_ref`), schemaOf(level)),
  ])
  return Object.assign({}, ...fields) as Record<string, z.ZodOptional>
}

/** The same references as parts of an envelope, beside the record. */
export function parentsBeside(names: SurfaceNames) {
  const part = (level: ParentLevel) => ({ names: spellings(names, `${level}_ref`), schema: schemaOf(level) })
  return { artifactRef: part(''), variantRef: part('_variant'), revisionRef: part('_revision') }
}

/** The ids of a variant and an artifact as parts of an envelope, where no record holds them, or they come in the query string. */
export function parentIdsBeside(names: SurfaceNames) {
  return {
    artifactId: { names: idSpellings(names, ''), schema: uuid },
    variantId: { names: idSpellings(names, '_variant'), schema: uuid },
  }
}

/** Reads a variant and an artifact out of the query string: ids, and references with a dot (`testset_variant_ref.slug=try`). */
export function parentsInQuery(names: SurfaceNames) {
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
  readonly revisionRef?: Reference | undefined
  readonly variantId?: string | undefined
}

/** What a record belongs to, said in it or beside it; refuses two that say different things. */
export function parentsOf(
  names: SurfaceNames,
  record: Readonly<Record<string, unknown>>,
  { artifactRef, artifactId, variantRef, variantId, revisionRef }: Beside = {},
): References {
  const of = (level: ParentLevel, ...beside: readonly (Reference | undefined)[]): Reference | undefined => {
    const id = firstOf<string>(record, idSpellings(names, level))
    const inside = firstOf<Reference>(record, spellings(names, `${level}_ref`))
    return [id === undefined ? undefined : { id }, inside, ...beside].reduce(
      (one, other) => oneReference(one, other, `${names.singulars[0] ?? ''}${level}`),
      undefined,
    )
  }
  return {
    artifact: of('', artifactRef, byId(artifactId)),
    variant: of('_variant', variantRef, byId(variantId)),
    revision: of('_revision', revisionRef),
  }
}

function byId(id: string | undefined): Reference | undefined {
  return id === undefined ? undefined : { id }
}

/** Refuses a record that does not say what it belongs to. */
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

function oneReference(
  one: Reference | undefined,
  other: Reference | undefined,
  name: string,
): Reference | undefined {
  if (!one || !other) return one ?? other
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
