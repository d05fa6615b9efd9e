import { Refusal } from '../../errors.ts'
import type { Family } from '../payload/family.ts'
import type { Reference, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { type VariantLocation, resolveVariant, resolveReference } from '../revisions/references.ts'
import type { AskedThrough } from '../revisions/retrieve-revision.ts'
import { retrieveRevision } from '../revisions/retrieve-revision.ts'
import type { RevisionLocation } from '../revisions/revision.ts'

/** One end of a merge or comparison (interface 6.2): a variant, a revision, or what an environment runs. */
export interface SideReference {
  readonly variant?: Reference | undefined
  readonly artifact?: Reference | undefined
  readonly revision?: Reference | undefined
  readonly environment?: Reference | undefined
  readonly key?: string | undefined
}

/** A found side: the latest revision of a variant, which may move, or a fixed revision. */
export type FoundSide =
  | { readonly variant: VariantLocation; readonly place?: undefined }
  | { readonly variant?: undefined; readonly place: RevisionLocation }

/** The side that a reference names. */
export async function findSide(
  registry: Registry,
  family: Family,
  side: SideReference,
  surface: AskedThrough,
): Promise<FoundSide> {
  const { variant, artifact, revision, environment, key } = side
  if (variant) return { variant: await resolveVariant(registry, family, variant, artifact) }
  if (revision) return { place: await resolveReference(registry, family, { revision }) }
  const references = { environment: { artifact: environment }, ...(key === undefined ? {} : { key }) }
  return { place: await retrieveRevision(registry, family, references, surface) }
}

/**
 * Finds the source of a merge. For a key that is limited to folders, what it does not see and what is not there are the same `unrelated`
 * (interface 18.7).
 */
export async function findSource<T>({ limit }: Registry, find: () => Promise<T>): Promise<T> {
  try {
    return await find()
  } catch (error) {
    if (!limit || !(error instanceof Refusal) || !error.code.endsWith('_not_found')) throw error
    throw new Refusal(
      'unrelated',
      'The source leads to nothing that this key sees, so it has no history in common with the target.',
    )
  }
}

/** The revision of a side for comparison; of a variant the latest. Refuses a variant without revisions. */
export async function revisionOfSide(
  registry: Registry,
  family: Family,
  found: FoundSide,
): Promise<RevisionLocation> {
  if (found.place) return found.place
  const { artifact, variant } = found.variant
  const references: References = { artifact: { id: artifact.id }, variant: { slug: variant.slug } }
  return resolveReference(registry, family, references)
}

/** Refuses two sides of different artifacts with `unrelated`. */
export function assertSameArtifact(
  one: Pick<VariantLocation, 'artifact'>,
  other: Pick<VariantLocation, 'artifact'>,
): void {
  if (one.artifact.id === other.artifact.id) return
  throw new Refusal(
    'unrelated',
    `"${one.artifact.slug}" and "${other.artifact.slug}" are two artifacts, and only revisions of one have a history in common. Commit what ` +
      'you want of the other one.',
  )
}
