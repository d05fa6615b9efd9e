import { Refusal } from '../../errors.ts'
import { HelpfulRefusal } from '../../suggestions/helpful-refusal.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { artifactMissing, revisionMissing, variantMissing } from '../not-found.ts'
import type { Reference } from '../reference.ts'
import type { Registry } from '../registry.ts'
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

/** The variant that a reference names; `scope` is the artifact reference beside it, if any. */
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
  const places = await variantsOfSlug(registry, family, slug, inScope)
  const place = onlyOne(places, 'variant', slug)
  if (place) return place
  const trashed = inScope ? undefined : await registry.trash.holderOf('variant', family, slug)
  throw saidTrashed(variantMissing(registry, family, { slug }, inScope), trashed)
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

/** The variants of this slug, within the artifact if one is given. */
export async function variantsOfSlug(
  registry: Registry,
  family: Family,
  slug: string,
  inScope: ArtifactView | undefined,
): Promise<VariantLocation[]> {
  const artifacts = inScope ? [inScope] : await registry.index.findByVariantSlug(family, slug)
  return artifacts.flatMap((artifact) => {
    const variant = findVariant(artifact, slug)
    return variant ? [{ artifact, variant }] : []
  })
}

/** Plain git can bring a slug that another artifact has too (ruling 3.4a); alone it names neither. */
export function onlyOne<T extends { readonly artifact: ArtifactView }>(
  found: readonly T[],
  level: string,
  slug: string,
): T | undefined {
  if (found.length < 2) return found[0]
  const artifacts = found.map((it) => ({ id: it.artifact.id, slug: it.artifact.slug }))
  throw new HelpfulRefusal('ambiguous_slug', {
    family: found[0]?.artifact.family.name ?? '',
    sentenceOf: () =>
      `The ${level} slug "${slug}" exists in several artifacts. Name the artifact beside it, or refer to it by id.`,
    data: { conflict: { slug } },
    help: () =>
      Promise.resolve({
        sentence: `They are ${artifacts.map((it) => it.slug).join(', ')}.`,
        details: { artifacts },
      }),
  })
}

/** Refuses a reference that identifies nothing (ruling 3.6). */
export function incomplete(field: string, needed: string): Refusal {
  return new Refusal('incomplete_reference', `${field} identifies nothing; it needs ${needed}.`)
}
