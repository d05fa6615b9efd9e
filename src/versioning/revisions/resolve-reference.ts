import { Refusal } from '../../errors.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import {
  helpWithLatest,
  helpWithRevision,
  helpWithVersion,
  noVariantYet,
  revisionMissing,
} from '../not-found.ts'
import type { Reference, References } from '../reference.ts'
import type { Registry } from '../registry.ts'
import { numberedBase } from '../slugs/slug.ts'
import type { Trashed } from '../trash/trash.ts'
import { saidTrashed } from '../trash/trash.ts'
import type { VariantLocation } from './references.ts'
import {
  incomplete,
  onlyOne,
  resolveArtifact,
  resolveVariant,
  revisionById,
  variantsOfSlug,
} from './references.ts'
import type { RevisionLocation } from './revision.ts'
import { isHeldBy, latestOf, homeOf, versionOf } from './revision.ts'

/**
 * The revision that references name, most specific first: revision, variant, artifact (interface 9.4, ruling 3.6; for those that name an
 * environment see retrieveRevision). Beside a slug or a version, the less specific references say where to look. Refuses with
 * `…_not_found`, `ambiguous_slug`, or `incomplete_reference` when nothing is identified.
 */
export async function resolveReference(
  registry: Registry,
  family: Family,
  references: References,
): Promise<RevisionLocation> {
  const { artifact, variant, revision } = references
  if (revision) return resolveRevisionReference(registry, family, revision, references)
  if (variant) {
    const found = await resolveVariant(registry, family, variant, artifact)
    return atVersion(found.artifact, found.variant, variant.version)
  }
  if (artifact) {
    const found = await resolveArtifact(registry, family, artifact)
    return atVersion(found, defaultVariantOf(found), artifact.version)
  }
  throw new Refusal(
    'incomplete_reference',
    `Nothing is referred to. Send one of ${family.name}_revision_ref, ${family.name}_variant_ref or ` +
      `${family.name}_ref with an id or a slug.`,
  )
}

async function resolveRevisionReference(
  registry: Registry,
  family: Family,
  { id, slug, version }: Reference,
  references: References,
): Promise<RevisionLocation> {
  if (id !== undefined) return revisionById(registry, family, id)
  if (slug === undefined) {
    if (version === undefined) throw incomplete(`${family.name}_revision_ref`, 'an id, a slug or a version')
    return versionInScope(registry, family, version, references)
  }
  const scope = await scopeOf(registry, family, references)
  const named =
    version === undefined
      ? await byRevisionSlug(registry, family, slug, scope.artifact)
      : await bySlugAndVersion(registry, family, slug, version, scope.artifact)
  const found = named && (await within(named, scope.variant))
  if (found) return found
  const refusal = revisionMissing(
    family,
    version === undefined ? `with the slug "${slug}"` : `"${slug}" with version ${version}`,
    helpWithRevision(registry, family, slug, scope.artifact),
  )
  throw saidTrashed(refusal, scope.artifact ? undefined : await trashedOf(registry, family, slug))
}

/** What lies in the trash and had a revision of this slug, or one that is named by it and a version. */
async function trashedOf(registry: Registry, family: Family, slug: string): Promise<Trashed | undefined> {
  const { trash } = registry
  for (const level of ['tag', 'variant', 'artifact'] as const) {
    const found = await trash.holderOf(level, family, slug)
    if (found) return found
  }
  const base = numberedBase(slug)
  return base === undefined ? undefined : trash.holderOf('variant', family, base)
}

/** `{version}` alone counts on the variant, else on the default variant of the artifact, that stands beside it. */
async function versionInScope(
  registry: Registry,
  family: Family,
  version: number,
  { artifact, variant }: References,
): Promise<RevisionLocation> {
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

/** Where the less specific references say to look for a revision slug. */
async function scopeOf(
  registry: Registry,
  family: Family,
  { artifact, variant }: References,
): Promise<Partial<VariantLocation>> {
  if (variant) return resolveVariant(registry, family, variant, artifact)
  return artifact ? { artifact: await resolveArtifact(registry, family, artifact) } : {}
}

/** The place as reached through the variant that stands beside its reference; undefined if that does not hold it. */
async function within(
  place: RevisionLocation,
  variant: VariantView | undefined,
): Promise<RevisionLocation | undefined> {
  if (!variant) return place
  const isThere = variant.slug === place.variant.slug || (await isHeldBy(place, variant))
  return isThere ? { ...place, variant, isHome: false } : undefined
}

/**
 * `{slug, version}` (ruling 3.5): the variant of that slug, else the artifact of that slug and its default variant, else
 * the revision of that slug if its version agrees. The first that there is decides, so that what such a reference names
 * does not move when another thing grows.
 */
async function bySlugAndVersion(
  registry: Registry,
  family: Family,
  slug: string,
  version: number,
  inScope: ArtifactView | undefined,
): Promise<RevisionLocation | undefined> {
  const places = await variantsOfSlug(registry, family, slug, inScope)
  const place = onlyOne(places, 'variant', slug)
  if (place) return versionOf(place.artifact, place.variant, version)
  const artifact = await registry.index.findBySlug(family, slug)
  if (artifact?.defaultVariant && (!inScope || inScope.id === artifact.id)) {
    return versionOf(artifact, artifact.defaultVariant, version)
  }
  const named = await byRevisionSlug(registry, family, slug, inScope)
  return named?.version === version ? named : undefined
}

/** A revision's own slug: a tag, else `<variant slug>-<version>` (ruling 3.4). */
async function byRevisionSlug(
  registry: Registry,
  family: Family,
  slug: string,
  inScope: ArtifactView | undefined,
): Promise<RevisionLocation | undefined> {
  const tagged = inScope
    ? [inScope].filter((artifact) => artifact.tags.has(slug))
    : await registry.index.findByTag(family, slug)
  const artifact = onlyOne(
    tagged.map((it) => ({ artifact: it })),
    'revision',
    slug,
  )?.artifact
  const tag = artifact?.tags.get(slug)
  if (artifact && tag !== undefined) return homeOf(registry, artifact, tag)
  const [, base = '', number = ''] = /^(.+)-([1-9][0-9]{0,8})$/.exec(slug) ?? []
  if (base === '') return undefined
  const place = onlyOne(await variantsOfSlug(registry, family, base, inScope), 'variant', base)
  return place && versionOf(place.artifact, place.variant, Number(number))
}

async function atVersion(
  artifact: ArtifactView,
  variant: VariantView,
  version: number | undefined,
): Promise<RevisionLocation> {
  const place =
    version === undefined ? await latestOf(artifact, variant) : await versionOf(artifact, variant, version)
  if (place) return place
  const { family } = artifact
  if (version === undefined) {
    const which = `on the variant "${variant.slug}" yet, or all of them are archived`
    throw revisionMissing(family, which, helpWithLatest(artifact, variant))
  }
  const which = `with version ${version} on the variant "${variant.slug}"`
  throw revisionMissing(family, which, helpWithVersion(artifact, variant))
}

function defaultVariantOf(artifact: ArtifactView): VariantView {
  if (artifact.defaultVariant) return artifact.defaultVariant
  throw noVariantYet(artifact)
}
