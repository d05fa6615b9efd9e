import { Refusal } from '../../errors.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { artifactMissing, revisionMissing, variantMissing } from '../not-found.ts'
import type { Reference } from '../reference.ts'
import type { Registry } from '../registry.ts'
import type { WantedSlug } from '../index/slug-table.ts'
import type { Trashed } from '../trash/trash.ts'
import { saidTrashed } from '../trash/trash.ts'
import type { RevisionLocation } from './revision.ts'
import { findRevisionById } from './revision.ts'

/** The artifact that a reference names. */
export async function resolveArtifact(
  registry: Registry,
  family: Family,
  reference: Reference,
): Promise<ArtifactView> {
  const { id, slug } = reference
  if (id !== undefined) return artifactById(registry, family, id)
  if (slug === undefined) throw incomplete(`${family.name}_ref`, 'an id or a slug')
  const found = await registry.index.findBySlug(family, slug)
  if (found) return found
  const refusal = artifactMissing(registry, family, { slug })
  throw saidTrashed(refusal, await registry.trash.holderOf('artifact', family, slug))
}

/** The artifact of this id. */
export async function artifactById(registry: Registry, family: Family, id: string): Promise<ArtifactView> {
  const found = await registry.index.findByDigits(id)
  if (found?.id !== id || found.family !== family) {
    const refusal = artifactMissing(registry, family, { id })
    throw saidTrashed(refusal, await registry.trash.withDigits(id))
  }
  return found
}

/** A variant with the artifact it belongs to. */
export interface VariantLocation {
  readonly artifact: ArtifactView
  readonly variant: VariantView
}

/** The variant that a reference names; `scope` is the artifact reference beside it, if any. Without one a slug means its oldest claim. */
export async function resolveVariant(
  registry: Registry,
  family: Family,
  reference: Reference,
  scope?: Reference,
): Promise<VariantLocation> {
  const { id, slug } = reference
  if (id !== undefined) return variantById(registry, family, id)
  if (slug === undefined) throw incomplete(`${family.name}_variant_ref`, 'an id or a slug')
  const inScope = scope && (await resolveArtifact(registry, family, scope))
  const found = await meantBy(registry, family, [['variant', slug]], inScope)
  const variant = found.artifact && findVariant(found.artifact, slug)
  if (found.artifact && variant) return { artifact: found.artifact, variant }
  throw saidTrashed(variantMissing(registry, family, { slug }, inScope), found.trashed)
}

/** What a slug means: the artifact that it is to be looked for in, or what has it and lies in the trash. */
export interface Meant {
  readonly artifact?: ArtifactView | undefined
  readonly trashed?: Trashed | undefined
}

/**
 * The artifact in which a slug that is asked for in these ways is looked up: the one that stands beside it, else the one whose claim is the
 * oldest, archived or not, so that nothing that comes later changes what a slug means (decision 40). What lies in the trash keeps its slugs.
 */
export async function meantBy(
  registry: Registry,
  family: Family,
  wanted: readonly WantedSlug[],
  inScope: ArtifactView | undefined,
): Promise<Meant> {
  if (inScope) return { artifact: inScope }
  const found = await registry.index.oldestClaim(family, wanted)
  const trashed = await registry.trash.oldestOf(family, wanted)
  if (trashed && !(found && found.since <= trashed.since)) return { trashed: trashed.holder }
  return { artifact: found?.artifact }
}

/** The variant of this id. */
export async function variantById(registry: Registry, family: Family, id: string): Promise<VariantLocation> {
  const artifact = await registry.index.findByDigits(repositoryDigits(id))
  const variant = artifact?.family === family ? artifact.variants.find((it) => it.id === id) : undefined
  if (!artifact || !variant)
    throw saidTrashed(variantMissing(registry, family, { id }), await registry.trash.withDigits(id))
  return { artifact, variant }
}

/** The revision of this id, at its home. */
export async function revisionById(
  registry: Registry,
  family: Family,
  id: string,
): Promise<RevisionLocation> {
  const find = async (artifact: ArtifactView | undefined): Promise<RevisionLocation | undefined> =>
    artifact?.family === family ? findRevisionById(registry, artifact, id) : undefined
  const place =
    (await find(await registry.index.findByDigits(repositoryDigits(id)))) ??
    (await find(await registry.index.findAfresh(id)))
  if (!place)
    throw saidTrashed(revisionMissing(family, `with the id ${id}`), await registry.trash.withDigits(id))
  return place
}

/** Refuses a reference that identifies nothing (interface 5.6). */
export function incomplete(field: string, needed: string): Refusal {
  return new Refusal('incomplete_reference', `${field} identifies nothing; it needs ${needed}.`)
}
