import { Refusal } from '../../errors.ts'
import type { HelpfulRefusal } from '../../base/suggestions.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import { claimsIn, type WantedSlug } from '../index/slug-table.ts'
import {
  artifactMissing,
  helpWithLatest,
  helpWithOthers,
  helpWithRevision,
  helpWithVersion,
  noVariantYet,
  type OtherClaims,
  revisionMissing,
  variantMissing,
} from '../store/not-found.ts'
import type { Reference, References } from '../store/reference.ts'
import type { Registry } from '../store/registry.ts'
import { numberedBase } from '../slugs/slug.ts'
import type { Trashed } from '../artifacts/trash.ts'
import { saidTrashed } from '../artifacts/trash.ts'
import type { RevisionLocation } from './revision.ts'
import { findRevisionById, homeOf, isHeldBy, latestOf, versionOf } from './revision.ts'

/**
 * The revision that references name, most specific first: revision, variant, artifact (interface 5.3; see retrieveRevision for references to an
 * environment). Less specific references tell where to look for a slug or a version. Refuses with `…_not_found`, or `incomplete_reference` if
 * nothing is identified. A slug without an artifact means its oldest claim (decision 40).
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
    return atVersion(found, variant.version, elsewhere(registry, { variant, artifact }))
  }
  if (artifact) return inDefaultVariant(registry, family, artifact, artifact.version)
  throw new Refusal(
    'incomplete_reference',
    `Nothing is referred to. Send one of ${family.name}_revision_ref, ${family.name}_variant_ref or ` +
      `${family.name}_ref with an id or a slug.`,
  )
}

/** The revision of an artifact with this version, counted on the default variant; the latest one without a version. */
export async function inDefaultVariant(
  registry: Registry,
  family: Family,
  reference: Reference,
  version: number | undefined,
): Promise<RevisionLocation> {
  const artifact = await resolveArtifact(registry, family, reference)
  const { defaultVariant: variant } = artifact
  if (!variant) throw noVariantYet(artifact)
  return atVersion({ artifact, variant }, version)
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
  const wanted = version === undefined ? asRevision(slug) : asSlugAndVersion(slug)
  const { artifact: meant, trashed } = await meantBy(registry, family, wanted, scope.artifact)
  const placeIn = (artifact: ArtifactView): Promise<RevisionLocation | undefined> =>
    version === undefined ? byRevisionSlug(artifact, slug) : bySlugAndVersion(artifact, slug, version)
  const named = meant && (await placeIn(meant))
  const found = named && (await within(named, scope.variant))
  if (found) return found
  const help = helpWithRevision(registry, family, slug, meant)
  const refusal = revisionMissing(
    family,
    version === undefined ? `with the slug "${slug}"` : `"${slug}" with version ${version}`,
    scope.artifact ? help : helpWithOthers(help, { registry, family, wanted, meant, placeIn }),
  )
  throw saidTrashed(refusal, trashed)
}

/** A revision slug alone may be a chosen slug, or the slug of a variant with a number. */
function asRevision(slug: string): readonly WantedSlug[] {
  const base = versionIn(slug) === undefined ? undefined : numberedBase(slug)
  return base === undefined
    ? [['tag', slug]]
    : [
        ['variant', base],
        ['tag', slug],
      ]
}

/** The slug of `{slug, version}` may be that of an artifact, a variant or a revision. */
function asSlugAndVersion(slug: string): readonly WantedSlug[] {
  return [
    ['variant', slug],
    ['artifact', slug],
    ['tag', slug],
  ]
}

/** The version at the end of a revision slug, if it has the form of a variant's slug with a number. */
function versionIn(slug: string): number | undefined {
  const [, number] = /^.+-([1-9][0-9]{0,8})$/.exec(slug) ?? []
  return number === undefined ? undefined : Number(number)
}

/** `{version}` alone counts on the variant beside it, else on the default variant of the artifact beside it. */
async function versionInScope(
  registry: Registry,
  family: Family,
  version: number,
  { artifact, variant }: References,
): Promise<RevisionLocation> {
  if (variant) {
    const found = await resolveVariant(registry, family, variant, artifact)
    return atVersion(found, version, elsewhere(registry, { variant, artifact }))
  }
  if (artifact) return inDefaultVariant(registry, family, artifact, version)
  throw incomplete(
    `${family.name}_revision_ref`,
    `more than version ${version}: add a slug to it, or send ${family.name}_variant_ref or ${family.name}_ref`,
  )
}

/** The artifact that the less specific references name, in which a revision slug is looked up. */
async function scopeOf(
  registry: Registry,
  family: Family,
  { artifact, variant }: References,
): Promise<Partial<VariantLocation>> {
  if (variant) return resolveVariant(registry, family, variant, artifact)
  return artifact ? { artifact: await resolveArtifact(registry, family, artifact) } : {}
}

/** The place in the variant that stands beside the reference; undefined if that variant does not contain the revision. */
async function within(
  place: RevisionLocation,
  variant: VariantView | undefined,
): Promise<RevisionLocation | undefined> {
  if (!variant) return place
  const isThere = variant.slug === place.variant.slug || (await isHeldBy(place, variant))
  return isThere ? { ...place, variant, isHome: false } : undefined
}

/**
 * `{slug, version}` in an artifact: its variant with that slug, else its default variant if the slug is the artifact's own, else the revision with
 * that chosen slug if its version agrees. The first existing one is used, so the meaning of a reference does not change when other things are
 * added.
 */
async function bySlugAndVersion(
  artifact: ArtifactView,
  slug: string,
  version: number,
): Promise<RevisionLocation | undefined> {
  const variant =
    findVariant(artifact, slug) ?? (slug === artifact.slug ? artifact.defaultVariant : undefined)
  if (variant) return versionOf(artifact, variant, version)
  const tag = artifact.tags.get(slug)
  const named = tag === undefined ? undefined : await homeOf(artifact, tag)
  return named?.version === version ? named : undefined
}

/** A revision's slug in an artifact: a chosen slug, or `<variant slug>-<version>`. If both exist, the older one. */
async function byRevisionSlug(artifact: ArtifactView, slug: string): Promise<RevisionLocation | undefined> {
  const [oldest] = claimsIn(artifact, asRevision(slug))
  if (!oldest) return undefined
  const tag = artifact.tags.get(slug)
  if (oldest.level === 'tag') return tag === undefined ? undefined : homeOf(artifact, tag)
  const variant = findVariant(artifact, oldest.slug)
  return variant && versionOf(artifact, variant, versionIn(slug) ?? 0)
}

/** Where the slug of a variant is looked up if nothing but the slug identifies it. */
type Elsewhere = Pick<OtherClaims, 'registry'> | undefined

function elsewhere(registry: Registry, { variant, artifact }: References): Elsewhere {
  return artifact || variant?.id !== undefined ? undefined : { registry }
}

async function atVersion(
  { artifact, variant }: VariantLocation,
  version: number | undefined,
  others?: Elsewhere,
): Promise<RevisionLocation> {
  const place = await (version === undefined
    ? latestOf(artifact, variant)
    : versionOf(artifact, variant, version))
  if (place) return place
  throw noSuchVersion({ artifact, variant }, version, others)
}

function noSuchVersion(
  { artifact, variant }: VariantLocation,
  version: number | undefined,
  others: Elsewhere,
): HelpfulRefusal {
  const placeIn = async (it: ArtifactView): Promise<RevisionLocation | undefined> => {
    const same = findVariant(it, variant.slug)
    return same && (version === undefined ? latestOf(it, same) : versionOf(it, same, version))
  }
  const { family } = artifact
  const isLatest = version === undefined
  const which = isLatest
    ? `on the variant "${variant.slug}" yet, or all of them are archived`
    : `with version ${version} on the variant "${variant.slug}"`
  const help = isLatest ? helpWithLatest(artifact, variant) : helpWithVersion(artifact, variant)
  const wanted = [['variant', variant.slug]] as const
  const asked = others && { ...others, family, wanted, meant: artifact, placeIn }
  return revisionMissing(family, which, asked ? helpWithOthers(help, asked) : help)
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

/** The variant that a reference names; `scope` is the reference to the artifact beside it, if any. Without one, a slug means its oldest claim. */
export function resolveVariant(
  registry: Registry,
  family: Family,
  { id, slug }: Reference,
  scope?: Reference,
): Promise<VariantLocation> {
  return id === undefined ? variantBySlug(registry, family, slug, scope) : variantById(registry, family, id)
}

async function variantBySlug(
  registry: Registry,
  family: Family,
  slug: string | undefined,
  scope: Reference | undefined,
): Promise<VariantLocation> {
  if (slug === undefined) throw incomplete(`${family.name}_variant_ref`, 'an id or a slug')
  const inScope = scope && (await resolveArtifact(registry, family, scope))
  const found = await meantBy(registry, family, [['variant', slug]], inScope)
  const variant = found.artifact && findVariant(found.artifact, slug)
  if (found.artifact && variant) return { artifact: found.artifact, variant }
  throw saidTrashed(variantMissing(registry, family, { slug }, inScope), found.trashed)
}

/** The meaning of a slug: an artifact in which it is looked up, or an artifact in the trash that has it. */
export interface Meant {
  readonly artifact?: ArtifactView | undefined
  readonly trashed?: Trashed | undefined
}

/**
 * The artifact in which a slug is looked up: the one beside it, else the one with the oldest claim, archived or not, so that a slug never changes
 * its meaning later (decision 40). An artifact in the trash keeps its slugs.
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
    artifact?.family === family ? findRevisionById(artifact, id) : undefined
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
