import { z } from 'zod'
import type { RevisionFilter } from '../../../versioning/artifacts/filters.ts'
import type { Family } from '../../../versioning/family/family.ts'
import type { Reference } from '../../../versioning/reference.ts'
import type { RevisionQuery } from '../../../versioning/revisions/ask-revisions.ts'
import { declare } from '../../routing/known-fields.ts'
import type { EnvelopePart } from '../envelope.ts'
import { firstOf } from '../envelope.ts'
import type { Beside } from '../parents.ts'
import { jsonObject, reference, searchText, slug, time, uuid } from '../request-schemas.ts'
import { flagsNamed, withRoles } from '../role-fields.ts'
import { optionalUnder } from '../spelling.ts'
import type { SurfaceNames } from '../surface-names.ts'
import { idSpellings, spellings } from '../surface-names.ts'

/** At which level a query lists; `flat` is that of the simple endpoints. */
export type QueryLevel = 'artifact' | 'variant' | 'revision' | 'flat'

export type ReferenceLevel = '' | '_variant' | '_revision'

/** Which lists of references each level takes (interface 2.16). */
export const REFERENCED: Readonly<Record<QueryLevel, readonly ReferenceLevel[]>> = {
  artifact: [''],
  flat: [''],
  variant: ['', '_variant'],
  revision: ['', '_variant', '_revision'],
}

/** So many items a list in a filter may have: each is looked for in each record. */
const MOST_ITEMS = 1000

export function listOf<T>(item: z.ZodType<T>): z.ZodArray<z.ZodType<T>> {
  return z.array(item).max(MOST_ITEMS, `must have at most ${MOST_ITEMS} items; ask in several requests`)
}

/** The ids of what a thing belongs to, and its own, as parts of a request (interface 2.16). */
export function parentParts(names: SurfaceNames, level: QueryLevel) {
  const part = (of: ReferenceLevel) => ({
    names: REFERENCED[level].includes(of) ? idSpellings(names, of) : [],
    schema: uuid,
  })
  return { artifact: part(''), variant: part('_variant'), revision: part('_revision') }
}

/** References in the place of those ids. */
export function referenceParts(names: SurfaceNames, level: QueryLevel) {
  const part = (of: ReferenceLevel) => ({
    names: REFERENCED[level].includes(of) ? spellings(names, `${of}_ref`) : [],
    schema: reference,
  })
  return { artifactRef: part(''), variantRef: part('_variant'), revisionRef: part('_revision') }
}

/** What a filter asks for, and the ids of what it is to belong to. */
export type QueryFilter = RevisionFilter &
  NonNullable<RevisionQuery['of']> &
  Beside & { readonly text?: string | undefined }

/** The filter object of a query of this level. */
export function queryFilter(
  names: SurfaceNames,
  level: QueryLevel,
  { roles, flagNames }: Family,
): z.ZodType<QueryFilter> {
  const parents = parentParts(names, level)
  const parentNames = Object.values(parents).flatMap((parent) => parent.names)
  const references = referenceParts(names, level)
  const referenceNames = Object.values(references).flatMap((it) => it.names)
  const isOfRevisions = level === 'revision' || level === 'flat'
  const fields = {
    slug: slug.optional(),
    slugs: listOf(slug).optional(),
    name: z.string().optional(),
    description: z.string().optional(),
    text: searchText.optional(),
    flags: flagsNamed(isOfRevisions ? [...roles, ...flagNames] : roles).optional(),
    tags: jsonObject.optional(),
    meta: jsonObject.optional(),
    ...(level === 'revision' ? ofRevisions : {}),
    ...underNames(parents),
    ...underNames(references),
  }
  // There are no folders: each thing is in the one that a client means.
  return declare(withRoles(fields, roles), { unused: ['folder_id'] }).transform((sent) => ({
    ...Object.fromEntries(
      Object.entries(sent).filter(([name]) => !parentNames.includes(name) && !referenceNames.includes(name)),
    ),
    artifact: firstOf<string>(sent, parents.artifact.names),
    variant: firstOf<string>(sent, parents.variant.names),
    revision: firstOf<string>(sent, parents.revision.names),
    artifactRef: firstOf<Reference>(sent, references.artifactRef.names),
    variantRef: firstOf<Reference>(sent, references.variantRef.names),
    revisionRef: firstOf<Reference>(sent, references.revisionRef.names),
  }))
}

/** Parts as optional fields, under each of their names. */
function underNames(parts: Readonly<Record<string, EnvelopePart>>): Record<string, z.ZodOptional> {
  const fields = Object.values(parts).map(({ names, schema }) => optionalUnder(names, schema))
  return Object.assign({}, ...fields) as Record<string, z.ZodOptional>
}

const ofRevisions = {
  message: z.string().optional(),
  author: z.string().optional(),
  authors: listOf(z.string()).optional(),
  date: time.optional(),
  dates: listOf(time).optional(),
}
