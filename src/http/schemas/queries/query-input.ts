import { z } from 'zod'
import { Refusal } from '../../../errors.ts'
import { type SearchedPlace, parseSearch } from '../../../feeds/search.ts'
import { artifactsDeployedTo } from '../../../registry/environments.ts'
import type { Family } from '../../../registry/families.ts'
import { objectUuid, type Reference } from '../../../registry/registries.ts'
import type { RevisionQuery } from '../../../registry/revisions.ts'
import type { Call } from '../../routing/endpoint.ts'
import type { SurfaceContext } from '../../surface-context.ts'
import {
  envelope,
  type EnvelopePart,
  firstOf,
  type SurfaceNames,
  spellings,
  idSpellings,
  type Beside,
  optionalUnder,
} from '../spellings.ts'
import {
  folder,
  orderedWindowing,
  reference,
  jsonObject,
  recursive,
  searchText,
  slug,
  time,
  uuid,
} from '../request-schemas.ts'
import { queryFilters } from './query-parameters.ts'
import type { ArtifactFilter, RevisionFilter } from '../../../registry/artifacts.ts'
import { declare } from '../../routing/known-fields.ts'
import { folderElsewhere } from '../folder-fields.ts'
import { flagsNamed, withRoles } from '../role-fields.ts'

/** The suffix of the filter object's name. */
const SUFFIX = { artifact: '', variant: '_variant', revision: '_revision', flat: '' } as const

const PLAIN = { '': 'artifact', _variant: 'variant', _revision: 'revision' } as const

/** The input of a query endpoint, from body and query string (interface 2.16, 2.10, 2.18). */
export function queryInput(names: SurfaceNames, level: QueryLevel, family: Family) {
  const suffix = SUFFIX[level]
  const references = REFERENCED[level]
  const referencePart = (of: ReferenceLevel) => ({
    names: references.includes(of) ? spellings(names, `${of}_refs`) : [],
    schema: listOf(reference),
  })
  return {
    input: envelope({
      filter: { names: spellings(names, suffix), schema: queryFilter(names, level, family) },
      ...parentParts(names, level),
      ...referenceParts(names, level),
      artifacts: referencePart(''),
      variants: referencePart('_variant'),
      revisions: referencePart('_revision'),
      pinned: { names: level === 'revision' && family.pins ? ['references'] : [], schema: listOf(reference) },
      includeArchived: { names: ['include_archived'], schema: z.boolean() },
      includeLatest: {
        names: level === 'artifact' ? ['include_latest'] : [],
        schema: z.boolean().meta({
          description: 'With the latest revision of each default variant, and what environments run of it.',
        }),
      },
      windowing: { names: ['windowing'], schema: orderedWindowing },
    }),
    fromQuery: queryFilters(
      spellings(names, suffix),
      references.map((it) => [...spellings(names, it), PLAIN[it]]),
    ),
  }
}

/** Converts what `queryInput` reads for the use case, and runs its text search. */
export async function queryOf(
  { registry, input }: Pick<Call<z.infer<ReturnType<typeof queryInput>['input']>>, 'registry' | 'input'>,
  { surface, searchOf }: Pick<SurfaceContext, 'surface' | 'searchOf'>,
  level: QueryLevel,
): Promise<RevisionQuery> {
  const { artifacts, variants, revisions, pinned, includeArchived } = input
  const { artifact, variant, revision, artifactRef, variantRef, revisionRef, text, deployed_to, ...filter } =
    input.filter ?? {}
  const deployed =
    deployed_to === undefined
      ? undefined
      : await artifactsDeployedTo(registry, surface.family, { slug: deployed_to })
  const found =
    text === undefined
      ? undefined
      : await searchOf(registry).places({
          search: parseSearch(text, ['body', input.sentAs.filter, 'text']),
          kinds: [{ family: surface.family.folder }],
          withRows: surface.payload === 'rows',
          includeHistory: level === 'revision',
          includeArchived,
        })
  const named = found && new Set(found.flatMap((place) => IDS[level](place)))
  return {
    filter,
    among: named && deployed ? new Set([...named].filter((id) => deployed.has(id))) : (named ?? deployed),
    of: {
      artifact: oneId(artifact, input.artifact),
      variant: oneId(variant, input.variant),
      revision: oneId(revision, input.revision),
    },
    roles: surface.fixedFlags,
    artifacts: oneList(artifacts, artifactRef, input.artifactRef),
    variants: oneList(variants, variantRef, input.variantRef),
    revisions: oneList(revisions, revisionRef, input.revisionRef),
    pinned,
    includeArchived,
    windowing: input.windowing,
  }
}

/** The ids that a list of each level takes from a place where text was found. */
const IDS: Readonly<Record<QueryLevel, (place: SearchedPlace) => string | readonly string[]>> = {
  artifact: ({ artifact }) => artifact.id,
  flat: ({ artifact }) => artifact.id,
  variant: ({ artifact, oid }) => artifact.variants.flatMap(({ id, head }) => (head === oid ? id : [])),
  revision: ({ artifact, oid }) => (oid === undefined ? [] : objectUuid(oid, artifact.digits)),
}

/** The id named by the filter or by the body beside it; they must agree. */
function oneId(inside: string | undefined, beside: string | undefined): string | undefined {
  if (inside === undefined || beside === undefined || inside === beside) return inside ?? beside
  throw new Refusal(
    'contradictory_request',
    `The filter asks for what belongs to ${inside}, and the body beside it for ${beside}. Send one of them.`,
  )
}

/** A single reference, in a filter or beside it, counts as a list of one. */
function oneList(
  many: readonly Reference[] | undefined,
  inside: Reference | undefined,
  beside: Reference | undefined,
): readonly Reference[] | undefined {
  const lists = [many, inside && [inside], beside && [beside]].filter((it) => it !== undefined)
  if (lists.length < 2) return lists[0]
  throw new Refusal(
    'contradictory_request',
    'References to one level are sent twice, as a list and by themselves, or in the filter and beside it. Send one of them.',
  )
}

/** The level that a query lists; `flat` is that of the simple endpoints. */
type QueryLevel = 'artifact' | 'variant' | 'revision' | 'flat'

type ReferenceLevel = '' | '_variant' | '_revision'

/** The lists of references each level takes (interface 2.16). */
const REFERENCED: Readonly<Record<QueryLevel, readonly ReferenceLevel[]>> = {
  artifact: [''],
  flat: [''],
  variant: ['', '_variant'],
  revision: ['', '_variant', '_revision'],
}

/** Limited, because each item is compared with each record. */
const MAX_LIST_ITEMS = 1000

function listOf<T>(item: z.ZodType<T>): z.ZodArray<z.ZodType<T>> {
  return z
    .array(item)
    .max(MAX_LIST_ITEMS, `must have at most ${MAX_LIST_ITEMS} items; ask in several requests`)
}

/** The ids of an item and its parents as parts of a request (interface 2.16). */
function parentParts(names: SurfaceNames, level: QueryLevel) {
  const part = (of: ReferenceLevel) => ({
    names: REFERENCED[level].includes(of) ? idSpellings(names, of) : [],
    schema: uuid,
  })
  return { artifact: part(''), variant: part('_variant'), revision: part('_revision') }
}

/** References in place of those ids. */
function referenceParts(names: SurfaceNames, level: QueryLevel) {
  const part = (of: ReferenceLevel) => ({
    names: REFERENCED[level].includes(of) ? spellings(names, `${of}_ref`) : [],
    schema: reference,
  })
  return { artifactRef: part(''), variantRef: part('_variant'), revisionRef: part('_revision') }
}

/** A filter, with the ids of the parents it requires. */
type QueryFilter = RevisionFilter &
  ArtifactFilter &
  NonNullable<RevisionQuery['of']> &
  Beside & { readonly text?: string | undefined; readonly deployed_to?: string | undefined }

/** The schema of the filter object at this level. */
function queryFilter(names: SurfaceNames, level: QueryLevel, family: Family): z.ZodType<QueryFilter> {
  const { roles, flagNames } = family
  const parents = parentParts(names, level)
  const parentNames = Object.values(parents).flatMap((parent) => parent.names)
  const references = referenceParts(names, level)
  const referenceNames = Object.values(references).flatMap((it) => it.names)
  const isOfArtifacts = (level === 'artifact' || level === 'flat') && !family.pins
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
    ...(isOfArtifacts ? ofArtifacts : {}),
    ...underNames(parents),
    ...underNames(references),
  }
  // Clients of the earlier service send `folder_id`; folders here have no ids.
  return declare(withRoles(fields, roles), {
    unused: ['folder_id'],
    misplaced: folderElsewhere(family),
  }).transform((sent) => ({
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

const ofArtifacts = {
  deployed_to: slug
    .optional()
    .meta({ description: 'What the environment with this slug runs a revision of.' }),
  folder: folder.optional(),
  recursive: recursive.optional(),
}

const ofRevisions = {
  message: z.string().optional(),
  author: z.string().optional(),
  authors: listOf(z.string()).optional(),
  date: time.optional(),
  dates: listOf(time).optional(),
}
