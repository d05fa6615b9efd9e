import { derivedFlags, presentData } from './model-data.ts'
import type { ModelArtifact, ModelState, RevisionAt, VariantAt } from './model-state.ts'
import { atHome, definedOf, latestOf, shownSlug } from './model-state.ts'

/** A surface by its singular; the plural and the path are it with an s. */
export type SurfaceName = 'workflow' | 'application' | 'evaluator'
export const SURFACES: readonly SurfaceName[] = ['workflow', 'application', 'evaluator']

export const ROLES = ['is_application', 'is_evaluator', 'is_snippet'] as const

/** An artifact as every answer must show it (interface 1.8). */
export function artifactRecord(state: ModelState, artifact: ModelArtifact): object {
  const { id, slug, header, flags, lifecycle } = artifact
  const git_url = `${state.publicUrl}/git/workflows/${slug}.git`
  return definedOf({ id, slug, ...header, flags, ...lifecycle, git_url })
}

/** A variant as every answer of a surface must show it (interface 1.9, 2.5). */
export function variantRecord({ artifact, variant }: VariantAt, surface: SurfaceName): object {
  const { id, slug, header, lifecycle } = variant
  const { flags } = artifact
  return definedOf({ id, slug, ...links('', artifact, surface), ...header, flags, ...lifecycle })
}

/** A revision as every answer of a surface must show it (interface 1.10, 2.5, 4.1). */
export function revisionRecord(
  state: ModelState,
  place: RevisionAt,
  surface: SurfaceName,
  withData: boolean,
): object {
  const { artifact, variant, revision } = place
  const { id, version, author, date, message, header, data, archived } = revision
  return definedOf({
    id,
    slug: shownSlug(place),
    version,
    ...links('', artifact, surface),
    ...links('_variant', variant, surface),
    author,
    date,
    message,
    created_at: date,
    ...archived,
    ...header,
    flags: revisionFlags(place),
    data: withData && data ? presentData(data, state.publicUrl, id) : undefined,
  })
}

/** An artifact merged with its default variant's latest revision (interface 1.11). */
export function flatRecord(state: ModelState, artifact: ModelArtifact): object {
  const variant = artifact.variants[0]
  const revision = variant && latestOf(variant)
  const data = revision?.data && presentData(revision.data, state.publicUrl, revision.id)
  return definedOf({
    ...artifactRecord(state, artifact),
    flags: flatFlags(artifact),
    variant_id: variant?.id,
    revision_id: revision?.id,
    data: data ?? {},
  })
}

/** The roles of the artifact and what the payload says. */
export function revisionFlags({ artifact, revision }: RevisionAt): Readonly<Record<string, boolean>> {
  return { ...rolesOf(artifact), ...derivedFlags(revision.data) }
}

export function flatFlags(artifact: ModelArtifact): Readonly<Record<string, boolean>> {
  const variant = artifact.variants[0]
  const revision = variant && latestOf(variant)
  return revision
    ? revisionFlags(atHome(artifact, revision))
    : { ...rolesOf(artifact), ...derivedFlags(undefined) }
}

export function rolesOf({ flags }: ModelArtifact): Readonly<Record<string, boolean>> {
  return Object.fromEntries(ROLES.map((role) => [role, flags?.[role] ?? false]))
}

/** What a retrieve says it went through (interface 5.15). */
export function retrievalInfo(place: RevisionAt, surface: SurfaceName): object {
  const { artifact, variant, revision } = place
  return {
    references: {
      [surface]: { id: artifact.id, slug: artifact.slug },
      [`${surface}_variant`]: { id: variant.id, slug: variant.slug },
      [`${surface}_revision`]: { id: revision.id, slug: shownSlug(place), version: revision.version },
    },
  }
}

function links(
  level: '' | '_variant',
  parent: { readonly id: string; readonly slug: string },
  surface: SurfaceName,
): Record<string, string> {
  const names = [level === '' ? 'artifact' : 'variant', `workflow${level}`, `${surface}${level}`]
  return Object.fromEntries(
    names.flatMap((it) => [
      [`${it}_id`, parent.id],
      [`${it}_slug`, parent.slug],
    ]),
  )
}
