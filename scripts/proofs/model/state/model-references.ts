import type { Refused } from '../expectation.ts'
import { refused } from '../expectation.ts'
import type { ModelArtifact, ModelState, RevisionAt, VariantAt } from './model-state.ts'
import { atHome, holds, latestOf, revisionsOf, variantsOf, versionOf } from './model-state.ts'

/** A reference object (interface 2.1). */
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

/** The revision that references name, or every acceptable one where the rulings leave a choice (rulings 3.5 to 3.7). */
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
  const inScope = (it: ModelArtifact): boolean => scope.artifact === undefined || scope.artifact === it
  const named =
    version === undefined
      ? byRevisionSlug(state, slug, inScope)
      : bySlugAndVersion(state, slug, Number(version), inScope)
  return within(named, scope)
}

/** Whether a reference in a query's list names this revision: what a retrieve by it alone would find. */
export function names(state: ModelState, reference: ModelReference, place: RevisionAt): boolean {
  const found = resolveRevision(state, reference, {})
  return !('refused' in found) && found.some(({ revision }) => revision === place.revision)
}

/** `{slug, version}`: the first of variant, artifact and revision that has the slug decides (ruling 3.5). */
function bySlugAndVersion(
  state: ModelState,
  slug: string,
  version: number,
  inScope: (artifact: ModelArtifact) => boolean,
): RevisionAt | undefined {
  const variant =
    variantsOf(state).find((it) => it.variant.slug === slug && inScope(it.artifact)) ??
    defaultOf(state.artifacts.find((it) => it.slug === slug && inScope(it)))
  if (variant) {
    const revision = versionOf(variant.variant, version)
    return revision && { ...variant, revision }
  }
  const place = byRevisionSlug(state, slug, inScope)
  return place?.revision.version === version ? place : undefined
}

function defaultOf(artifact: ModelArtifact | undefined): VariantAt | undefined {
  const variant = artifact?.variants[0]
  return artifact && variant && { artifact, variant }
}

/** A chosen slug, else `<variant slug>-<version>` (ruling 3.4). */
function byRevisionSlug(
  state: ModelState,
  slug: string,
  inScope: (artifact: ModelArtifact) => boolean,
): RevisionAt | undefined {
  for (const artifact of state.artifacts.filter(inScope)) {
    const chosen = artifact.revisions.find((it) => it.chosenSlug === slug)
    if (chosen) return atHome(artifact, chosen)
  }
  for (const { artifact, variant } of variantsOf(state)) {
    if (!inScope(artifact) || !slug.startsWith(`${variant.slug}-`)) continue
    const number = slug.slice(variant.slug.length + 1)
    const revision = /^[1-9][0-9]*$/.test(number) ? versionOf(variant, Number(number)) : undefined
    if (revision) return { artifact, variant, revision }
  }
  return undefined
}

/**
 * Beside a slug, a variant reference says where to look (ruling 3.6): what it does not hold is not there. What it does
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
  const found = variantsOf(state).find(
    (it) => it.variant.slug === slug && (scope === undefined || it.artifact === scope),
  )
  return found ?? missing
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
