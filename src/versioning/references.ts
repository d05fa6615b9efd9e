import { Refusal } from '../errors.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import { findVariant } from './artifact-view.ts'
import type { Family } from './family.ts'
import { repositoryDigits } from './ids.ts'
import type { Registry } from './registry.ts'
import type { RevisionPlace } from './revision.ts'
import { findRevisionById, latestOf, placeAtHome, placeOf, revisionNotFound, versionOf } from './revision.ts'

/** One reference object of interface 2.1: an id, or a slug with or without a version. */
export interface Reference {
  readonly id?: string | undefined
  readonly slug?: string | undefined
  readonly version?: number | undefined
}

/** The references of one request. Their request names (`workflow_variant_ref`) are `label`s for the sentences. */
export interface References {
  readonly artifact?: Reference | undefined
  readonly variant?: Reference | undefined
  readonly revision?: Reference | undefined
  readonly environment?: Reference | undefined
}

/**
 * The revision that references name, most specific first: revision, variant, environment, artifact (interface 9.4, ruling
 * 3.6). Beside a slug or a version, the less specific references say where to look. Refuses with `…_not_found`,
 * `ambiguous_slug`, or `incomplete_reference` when nothing is identified.
 */
export async function resolveRevision(
  registry: Registry,
  family: Family,
  references: References,
): Promise<RevisionPlace> {
  const { artifact, variant, revision, environment } = references
  if (revision) return resolveRevisionReference(registry, family, revision, references)
  if (variant) {
    const found = await resolveVariant(registry, family, variant, artifact)
    return atVersion(found.artifact, found.variant, variant.version)
  }
  if (environment) throw environmentNotFound(environment)
  if (artifact) {
    const found = await resolveArtifact(registry, family, artifact)
    return atVersion(found, defaultVariantOf(found), artifact.version)
  }
  throw new Refusal(
    'incomplete_reference',
    `Nothing is referred to. Send one of ${family.name}_revision_ref, ${family.name}_variant_ref, ` +
      `${family.name}_ref or environment_ref with an id or a slug.`,
  )
}

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
  if (!found) throw new Refusal('artifact_not_found', `There is no ${family.name} with the slug "${slug}".`)
  return found
}

/** The artifact of this id. */
export async function artifactById(registry: Registry, family: Family, id: string): Promise<ArtifactView> {
  const found = await registry.index.findByDigits(id)
  if (found?.id !== id || found.family !== family) {
    throw new Refusal('artifact_not_found', `There is no ${family.name} with the id ${id}.`)
  }
  return found
}

/** A variant with the artifact it belongs to. */
export interface VariantPlace {
  readonly artifact: ArtifactView
  readonly variant: VariantView
}

/** The variant that a reference names; `scope` is the artifact reference beside it, if any. */
export async function resolveVariant(
  registry: Registry,
  family: Family,
  reference: Reference,
  scope?: Reference,
): Promise<VariantPlace> {
  const { id, slug } = reference
  if (id !== undefined) return variantById(registry, family, id)
  if (slug === undefined) throw incomplete(`${family.name}_variant_ref`, 'an id or a slug')
  const places = await variantsOfSlug(registry, family, slug, scope)
  return onlyOne(places, 'variant', slug) ?? variantNotFound(family, `with the slug "${slug}"`)
}

/** The variant of this id. */
export async function variantById(registry: Registry, family: Family, id: string): Promise<VariantPlace> {
  const artifact = await registry.index.findByDigits(repositoryDigits(id))
  const variant = artifact?.family === family ? artifact.variants.find((it) => it.id === id) : undefined
  if (!artifact || !variant) return variantNotFound(family, `with the id ${id}`)
  return { artifact, variant }
}

/** The revision of this id, at its home. */
export async function revisionById(registry: Registry, family: Family, id: string): Promise<RevisionPlace> {
  const artifact = await registry.index.findByDigits(repositoryDigits(id))
  const place = artifact?.family === family ? await findRevisionById(registry, artifact, id) : undefined
  if (!place) throw revisionNotFound(`with the id ${id}`)
  return place
}

async function resolveRevisionReference(
  registry: Registry,
  family: Family,
  reference: Reference,
  scope: References,
): Promise<RevisionPlace> {
  const { id, slug, version } = reference
  if (id !== undefined) return revisionById(registry, family, id)
  if (slug === undefined) {
    if (version === undefined) throw incomplete(`${family.name}_revision_ref`, 'an id, a slug or a version')
    return versionInScope(registry, family, version, scope)
  }
  const found =
    (version === undefined ? undefined : await bySlugAndVersion(registry, family, slug, version, scope)) ??
    (await byRevisionSlug(registry, family, slug, scope))
  if (found && (version === undefined || found.version === version)) return found
  throw revisionNotFound(
    version === undefined ? `with the slug "${slug}"` : `"${slug}" with version ${version}`,
  )
}

/** `{version}` alone counts on the variant, else on the default variant of the artifact, that stands beside it. */
async function versionInScope(
  registry: Registry,
  family: Family,
  version: number,
  { artifact, variant }: References,
): Promise<RevisionPlace> {
  if (variant) {
    const place = await resolveVariant(registry, family, variant, artifact)
    return atVersion(place.artifact, place.variant, version)
  }
  if (artifact) {
    const found = await resolveArtifact(registry, family, artifact)
    return atVersion(found, defaultVariantOf(found), version)
  }
  throw incomplete(
    `${family.name}_revision_ref`,
    `more than version ${version}: add a slug to it, or send ${family.name}_variant_ref or ${family.name}_ref`,
  )
}

/** `{slug, version}` (ruling 3.5): the variant of that slug, else the artifact of that slug and its default variant. */
async function bySlugAndVersion(
  registry: Registry,
  family: Family,
  slug: string,
  version: number,
  scope: References,
): Promise<RevisionPlace | undefined> {
  const places = await variantsOfSlug(registry, family, slug, scope.artifact)
  const place = onlyOne(places, 'variant', slug)
  if (place) return versionOf(place.artifact, place.variant, version)
  const artifact = await registry.index.findBySlug(family, slug)
  if (
    !artifact?.defaultVariant ||
    (scope.artifact && !(await isScope(registry, family, scope.artifact, artifact)))
  ) {
    return undefined
  }
  return versionOf(artifact, artifact.defaultVariant, version)
}

/** A revision's own slug: a tag, else `<variant slug>-<version>` (ruling 3.4). */
async function byRevisionSlug(
  registry: Registry,
  family: Family,
  slug: string,
  scope: References,
): Promise<RevisionPlace | undefined> {
  const variant = scope.variant
    ? await resolveVariant(registry, family, scope.variant, scope.artifact)
    : undefined
  const inScope =
    variant?.artifact ?? (scope.artifact && (await resolveArtifact(registry, family, scope.artifact)))
  const tagged = inScope
    ? [inScope].filter((artifact) => artifact.tags.has(slug))
    : await registry.index.findByTag(family, slug)
  const artifact = onlyOne(
    tagged.map((it) => ({ artifact: it })),
    'revision',
    slug,
  )?.artifact
  const tag = artifact?.tags.get(slug)
  if (artifact && tag !== undefined) {
    return variant ? placeOf(artifact, variant.variant, tag) : placeAtHome(registry, artifact, tag)
  }
  const [, base = '', number = ''] = /^(.+)-([1-9][0-9]{0,8})$/.exec(slug) ?? []
  if (base === '') return undefined
  const bases = await variantsOfSlug(registry, family, base, inScope && { id: inScope.id })
  const place = onlyOne(bases, 'variant', base)
  return place && versionOf(place.artifact, place.variant, Number(number))
}

async function variantsOfSlug(
  registry: Registry,
  family: Family,
  slug: string,
  scope: Reference | undefined,
): Promise<VariantPlace[]> {
  const artifacts = scope
    ? [await resolveArtifact(registry, family, scope)]
    : await registry.index.findByVariantSlug(family, slug)
  return artifacts.flatMap((artifact) => {
    const variant = findVariant(artifact, slug)
    return variant ? [{ artifact, variant }] : []
  })
}

async function isScope(
  registry: Registry,
  family: Family,
  scope: Reference,
  artifact: ArtifactView,
): Promise<boolean> {
  return (await resolveArtifact(registry, family, scope)).id === artifact.id
}

async function atVersion(
  artifact: ArtifactView,
  variant: VariantView,
  version: number | undefined,
): Promise<RevisionPlace> {
  const place =
    version === undefined ? await latestOf(artifact, variant) : await versionOf(artifact, variant, version)
  if (place) return place
  throw revisionNotFound(
    version === undefined
      ? `on the variant "${variant.slug}" yet, or all of them are archived`
      : `with version ${version} on the variant "${variant.slug}"`,
  )
}

function defaultVariantOf(artifact: ArtifactView): VariantView {
  return artifact.defaultVariant ?? variantNotFound(artifact.family, `on "${artifact.slug}" yet`)
}

/** Plain git can bring a slug that another artifact has too (ruling 3.4a); alone it names neither. */
function onlyOne<T extends { readonly artifact: ArtifactView }>(
  found: readonly T[],
  level: string,
  slug: string,
): T | undefined {
  if (found.length < 2) return found[0]
  const artifacts = found.map((it) => ({ id: it.artifact.id, slug: it.artifact.slug }))
  throw new Refusal(
    'ambiguous_slug',
    `The ${level} slug "${slug}" exists in several artifacts: ${artifacts.map((it) => it.slug).join(', ')}. ` +
      `Name the artifact beside it, or refer to it by id.`,
    { conflict: { slug }, details: { artifacts } },
  )
}

function variantNotFound(family: Family, which: string): never {
  throw new Refusal('variant_not_found', `There is no ${family.name} variant ${which}.`)
}

function environmentNotFound({ id, slug }: Reference): Refusal {
  if (id === undefined && slug === undefined) return incomplete('environment_ref', 'an id or a slug')
  return new Refusal(
    'environment_not_found',
    `There is no environment ${id ?? `with the slug "${slug ?? ''}"`}.`,
  )
}

function incomplete(field: string, needed: string): Refusal {
  return new Refusal('incomplete_reference', `${field} identifies nothing; it needs ${needed}.`)
}
