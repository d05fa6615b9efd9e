import type { ModelReference, ModelReferences } from '../state/model-references.ts'
import type { QueryLevel } from '../state/model-query.ts'
import type { ModelState, RevisionAt } from '../state/model-state.ts'
import { definedOf, revisionsOf, shownSlug, variantsOf } from '../state/model-state.ts'
import type { ModelWindowing } from '../state/model-window.ts'
import type { Pick, ReferencesStep, ReferenceStep, WindowingStep } from '../step.ts'

/** An id that no thing has. */
export const UNKNOWN_ID = '0f3c9a1b-e2d4-85b1-8b00-7d41c0aa93fe'

/** Picks from here on are of nothing. */
const STRAY_FROM = 940

/** One of the list; now and then, and where it is empty, nothing. */
export function pickFrom<T>(list: readonly T[], pick: Pick): T | undefined {
  return pick >= STRAY_FROM ? undefined : list[pick % Math.max(1, list.length)]
}

/** The id of a thing that is not of this level: one of another level, or of nothing. */
export function wrongId(state: ModelState, level: QueryLevel, pick: Pick): string {
  const others = [
    ...(level === 'artifact' || level === 'flat' ? [] : state.artifacts.map(({ id }) => id)),
    ...(level === 'variant' ? [] : variantsOf(state).map(({ variant }) => variant.id)),
    ...(level === 'revision' ? [] : revisionsOf(state).map(({ revision }) => revision.id)),
  ]
  return (pick % 2 === 0 ? undefined : others[pick % Math.max(1, others.length)]) ?? UNKNOWN_ID
}

/** The references of a step, about things as they are now. */
export function referencesOf(state: ModelState, step: ReferencesStep): ModelReferences {
  const about = revisionsOf(state)
  const center = about[step.about % Math.max(1, about.length)]
  const write = (level: 'artifact' | 'variant' | 'revision', reference: ReferenceStep | undefined) =>
    reference && referenceTo(state, level, reference, center)
  return definedOf({
    artifact: write('artifact', step.artifact),
    variant: write('variant', step.variant),
    revision: write('revision', step.revision),
  })
}

/** One reference, to the thing at `center` unless it strays. */
export function referenceTo(
  state: ModelState,
  level: 'artifact' | 'variant' | 'revision',
  { by, stray, pick }: ReferenceStep,
  center?: RevisionAt,
): ModelReference {
  const target = targetOf(state, level, pick, stray ? undefined : center)
  const version = pick % 5 === 4 ? pick % 7 : target.version
  const sent = Math.max(1, version ?? (pick % 3) + 1)
  // A version may come as a number or as a numeric string (interface 4.5).
  const written = pick % 2 === 0 ? sent : String(sent)
  if (by === 'nothing') return {}
  if (by === 'version' && level === 'revision') return { version: written }
  if (by === 'version' || by === 'slug and version') return { slug: target.outerSlug, version: written }
  return by === 'id' ? { id: pick % 4 === 0 ? target.id.toUpperCase() : target.id } : { slug: target.slug }
}

/** What may be referred to at a level, and under which slugs. */
function targetOf(
  state: ModelState,
  level: 'artifact' | 'variant' | 'revision',
  pick: Pick,
  center: RevisionAt | undefined,
): { readonly id: string; readonly slug: string; readonly outerSlug: string; readonly version?: number } {
  const nothing = { id: wrongId(state, level, pick), slug: 'nowhere', outerSlug: 'nowhere' }
  if (level === 'artifact') {
    const artifact = center?.artifact ?? pickFrom(state.artifacts, pick)
    const version = center?.revision.version
    return artifact ? { ...definedOf({ version }), ...artifact, outerSlug: artifact.slug } : nothing
  }
  if (level === 'variant') {
    const places = center
      ? variantsOf(state).filter(({ artifact }) => artifact === center.artifact)
      : variantsOf(state)
    const variant = pickFrom(places, pick)?.variant
    return variant ? { id: variant.id, slug: variant.slug, outerSlug: variant.slug } : nothing
  }
  const place = center ?? pickFrom(revisionsOf(state), pick)
  if (!place) return nothing
  const { artifact, revision } = place
  // Any variant's name for the number, whether it holds the revision or not; and the chosen slug.
  const variant = artifact.variants[pick % artifact.variants.length] ?? place.variant
  const slug = pick % 3 === 0 ? shownSlug(place) : `${variant.slug}-${revision.version}`
  const outer = [variant.slug, artifact.slug, shownSlug(place)][pick % 3] ?? variant.slug
  return { id: revision.id, slug, outerSlug: outer, version: revision.version }
}

/** The windowing of a step, with cursors and times of things of that level. */
export function windowingOf(
  rows: readonly { readonly id: string; readonly at: string }[],
  step: WindowingStep | undefined,
): ModelWindowing | undefined {
  if (!step) return undefined
  const row = (pick: Pick | undefined) =>
    pick === undefined ? undefined : rows[pick % Math.max(1, rows.length)]
  return definedOf({
    limit: step.limit,
    order: step.order,
    next: step.next === undefined ? undefined : (row(step.next)?.id ?? UNKNOWN_ID),
    newest: row(step.newest)?.at,
    oldest: row(step.oldest)?.at,
  })
}
