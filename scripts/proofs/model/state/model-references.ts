import type { Refused, Told } from '../expectation.ts'
import { refused } from '../expectation.ts'
import type { ModelClaim } from './model-slugs.ts'
import { byAge, claimsOf } from './model-slugs.ts'
import type { ModelArtifact, ModelState, RevisionAt, VariantAt } from './model-state.ts'
import { atHome, holds, latestOf, revisionsOf, variantsOf, versionOf } from './model-state.ts'

/** A reference object (interface 5.1). */
export interface ModelReference {
  readonly id?: string
  readonly slug?: string
  readonly version?: number | string
}

/** The references of one request, by level. */
export interface ModelReferences {
  readonly artifact?: ModelReference
  readonly variant?: ModelReference
  readonly revision?: ModelReference
}

type Found<T> = T | Refused

/** The revision that references name, or every acceptable one where the interface leaves a choice (interface 5.7, 4.24). */
export function resolve(state: ModelState, references: ModelReferences): Found<readonly RevisionAt[]> {
  const { artifact, variant, revision } = references
  if (revision) return resolveRevision(state, revision, references)
  if (variant) {
    const found = resolveVariant(state, variant, artifact)
    return 'refused' in found ? found : atVersion(found, variant.version)
  }
  if (!artifact) return refused('incomplete_reference')
  const found = resolveDefaultVariant(state, artifact)
  return 'refused' in found ? found : atVersion(found, artifact.version)
}

function resolveRevision(
  state: ModelState,
  { id, slug, version }: ModelReference,
  { artifact, variant }: ModelReferences,
): Found<readonly RevisionAt[]> {
  if (id !== undefined) return present(revisionsOf(state).find(({ revision }) => isSameId(revision.id, id)))
  if (slug === undefined) {
    if (version === undefined || (!variant && !artifact)) return refused('incomplete_reference')
    const place = variant
      ? resolveVariant(state, variant, artifact)
      : resolveDefaultVariant(state, artifact ?? {})
    return 'refused' in place ? place : atVersion(place, version)
  }
  const scope = scopeOf(state, variant, artifact)
  if ('refused' in scope) return scope
  const isMeant =
    version === undefined
      ? (it: ModelClaim): boolean => claimsRevision(it, slug)
      : (it: ModelClaim): boolean => it.slug === slug
  const meant = scope.artifact ?? oldest(state.artifacts, isMeant)?.artifact
  const named =
    meant &&
    (version === undefined ? byRevisionSlug(meant, slug) : bySlugAndVersion(meant, slug, Number(version)))
  return within(named, scope)
}

/** Whether a reference in a query's list names this revision: what a retrieve by it alone would find. */
export function names(state: ModelState, reference: ModelReference, place: RevisionAt): boolean {
  const found = resolveRevision(state, reference, {})
  return !('refused' in found) && found.some(({ revision }) => revision === place.revision)
}

/** The oldest claim of those that are asked for: what a slug means that stands alone (interface 5.9). */
function oldest(
  artifacts: readonly ModelArtifact[],
  isMeant: (claim: ModelClaim) => boolean,
): ModelClaim | undefined {
  return artifacts.flatMap(claimsOf).filter(isMeant).sort(byAge)[0]
}

/** A revision that was given the slug, or a variant that would name one so. */
function claimsRevision({ level, slug: claimed }: ModelClaim, slug: string): boolean {
  if (level === 'tag') return claimed === slug
  return level === 'variant' && numberBehind(claimed, slug) !== undefined
}

function numberBehind(variant: string, slug: string): number | undefined {
  const number = slug.startsWith(`${variant}-`) ? slug.slice(variant.length + 1) : ''
  return /^[1-9][0-9]*$/.test(number) ? Number(number) : undefined
}

/** `{slug, version}` in an artifact: the first of variant, artifact and revision that has the slug decides (interface 5.7). */
function bySlugAndVersion(artifact: ModelArtifact, slug: string, version: number): RevisionAt | undefined {
  const own = artifact.slug === slug ? artifact.variants[0] : undefined
  const variant = artifact.variants.find((it) => it.slug === slug) ?? own
  if (variant) {
    const revision = versionOf(variant, version)
    return revision && { artifact, variant, revision }
  }
  const chosen = artifact.revisions.find((it) => it.chosenSlug === slug)
  return chosen?.version === version ? atHome(artifact, chosen) : undefined
}

function defaultOf(artifact: ModelArtifact | undefined): VariantAt | undefined {
  const variant = artifact?.variants[0]
  return artifact && variant && { artifact, variant }
}

/** In an artifact, the older of a chosen slug and `<variant slug>-<version>` (interface 4.12). */
function byRevisionSlug(artifact: ModelArtifact, slug: string): RevisionAt | undefined {
  const claim = oldest([artifact], (it) => claimsRevision(it, slug))
  if (!claim) return undefined
  if (claim.level === 'tag') {
    const chosen = artifact.revisions.find((it) => it.chosenSlug === slug)
    return chosen && atHome(artifact, chosen)
  }
  const variant = artifact.variants.find((it) => it.slug === claim.slug)
  const revision = variant && versionOf(variant, numberBehind(claim.slug, slug) ?? 0)
  return revision && { artifact, variant, revision }
}

/**
 * Beside a slug, a variant reference says where to look (interface 5.3): what it does not hold is not there. What it does
 * hold was reached through both, so either place may be shown.
 */
function within(
  place: RevisionAt | undefined,
  { variant }: { readonly variant?: VariantAt },
): Found<readonly RevisionAt[]> {
  if (!place || !variant || place.variant === variant.variant) return present(place)
  if (place.artifact !== variant.artifact || !holds(variant.variant, place.revision))
    return refused('revision_not_found')
  return [place, { ...variant, revision: place.revision }]
}

/** Where less specific references say to look. */
function scopeOf(
  state: ModelState,
  variant: ModelReference | undefined,
  artifact: ModelReference | undefined,
): Found<{ readonly artifact?: ModelArtifact; readonly variant?: VariantAt }> {
  if (variant) {
    const found = resolveVariant(state, variant, artifact)
    return 'refused' in found ? found : { artifact: found.artifact, variant: found }
  }
  if (!artifact) return {}
  const found = resolveArtifact(state, artifact)
  return 'refused' in found ? found : { artifact: found }
}

function resolveVariant(
  state: ModelState,
  { id, slug }: ModelReference,
  artifact: ModelReference | undefined,
): Found<VariantAt> {
  const missing = refused('variant_not_found')
  if (id !== undefined) return variantsOf(state).find(({ variant }) => isSameId(variant.id, id)) ?? missing
  if (slug === undefined) return refused('incomplete_reference')
  const scope = artifact && resolveArtifact(state, artifact)
  if (scope && 'refused' in scope) return scope
  const meant = scope ?? oldest(state.artifacts, (it) => it.level === 'variant' && it.slug === slug)?.artifact
  const variant = meant?.variants.find((it) => it.slug === slug)
  return meant && variant ? { artifact: meant, variant } : missing
}

/**
 * What is told of references beside the one that was followed: those that name something that is there, and that does not hold what was found
 * (interface 5.3).
 */
export function disagreementsOf(
  state: ModelState,
  surface: string,
  { artifact, variant, revision }: ModelReferences,
  place: RevisionAt,
): Told[] {
  const told: Told[] = []
  const tell = (says: string): void =>
    void told.push({ code: 'reference_disagrees', says: `${surface}${says}` })
  // Beside an id a version is only compared.
  if (
    revision?.id !== undefined &&
    revision.version !== undefined &&
    Number(revision.version) !== place.revision.version
  )
    tell('_revision_ref.version')
  if (variant && (revision?.id !== undefined || variant.id !== undefined)) {
    const own = place.artifact.variants.find((it) => it.slug === variant.slug)
    const other = resolveVariant(state, variant, artifact)
    const isThere = !('refused' in other)
    const holdsIt = (it: VariantAt): boolean =>
      it.artifact === place.artifact && (it.variant === place.variant || holds(it.variant, place.revision))
    const ownHolds = own !== undefined && holdsIt({ artifact: place.artifact, variant: own })
    if (isThere && !holdsIt(other) && !ownHolds) tell('_variant_ref')
  }
  if (artifact && (variant ?? revision)) {
    const other = resolveArtifact(state, artifact)
    if (!('refused' in other) && other !== place.artifact) tell('_ref')
  }
  return told
}

function resolveDefaultVariant(state: ModelState, reference: ModelReference): Found<VariantAt> {
  const artifact = resolveArtifact(state, reference)
  if ('refused' in artifact) return artifact
  return defaultOf(artifact) ?? refused('variant_not_found')
}

function resolveArtifact(state: ModelState, { id, slug }: ModelReference): Found<ModelArtifact> {
  if (id === undefined && slug === undefined) return refused('incomplete_reference')
  const found = state.artifacts.find((it) => (id === undefined ? it.slug === slug : isSameId(it.id, id)))
  return found ?? refused('artifact_not_found')
}

function atVersion(place: VariantAt, version: number | string | undefined): Found<readonly RevisionAt[]> {
  const { variant } = place
  const revision = version === undefined ? latestOf(variant) : versionOf(variant, Number(version))
  return present(revision && { ...place, revision })
}

function present(place: RevisionAt | undefined): Found<readonly RevisionAt[]> {
  return place ? [place] : refused('revision_not_found')
}

/** Ids are UUIDs, whose digits a request may write in either case. */
export function isSameId(id: string, sent: string): boolean {
  return id === sent.toLowerCase()
}
