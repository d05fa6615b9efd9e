import type { Registry } from '../registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import type { WriteContext } from '../write-context.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import { findVariant } from './artifact-view.ts'
import { assertHeaderLength } from './records.ts'
import { changeArtifact } from './change-artifact.ts'
import type { Header } from './records.ts'
import { assertActive } from './write-guards.ts'

/** An edit of a header: a field left out keeps its value, null clears it (interface 4.23). */
export type HeaderEdit = { readonly [K in keyof Header]?: Header[K] | null }

/** The same of an artifact, whose flags may be worked out from those it has when nobody else edits it. */
export interface ArtifactEdit extends Omit<HeaderEdit, 'flags'> {
  readonly flags?: HeaderEdit['flags'] | FlagsEdit
}

/** What becomes of the flags of an artifact; null clears them. */
export type FlagsEdit = (before: Header['flags']) => Header['flags'] | null

/** Edits an artifact's name, description, flags, tags or meta. Refuses an archived artifact. */
export function editArtifact(
  registry: Registry,
  artifact: ArtifactView,
  { flags, ...edit }: ArtifactEdit,
  context: WriteContext,
): Promise<ArtifactView> {
  return changeArtifact(registry, artifact, context, (state) => {
    assertActive('artifact', artifact.slug, state.artifact)
    const edited = typeof flags === 'function' ? flags(state.artifact.flags) : flags
    const whole = edited === undefined ? edit : { ...edit, flags: edited }
    const record = { ...applyEdit(state.artifact, whole), ...updated(registry, context) }
    return { subject: `Edit ${artifact.family.name} ${artifact.slug}`, artifact: record }
  })
}

/** Edits a variant's header likewise; flags are the artifact's and have no effect here. */
export async function editVariant(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  edit: HeaderEdit,
  context: WriteContext,
): Promise<VariantLocation> {
  const changed = await changeArtifact(registry, artifact, context, (state) => {
    assertActive('artifact', artifact.slug, state.artifact)
    const before = state.variants.get(variant.slug) ?? variant.record
    assertActive('variant', variant.slug, before)
    const record = { ...applyEdit(before, edit), ...updated(registry, context) }
    return { subject: `Edit variant ${variant.slug}`, variants: { [variant.slug]: record } }
  })
  return { artifact: changed, variant: variantInView(changed, variant) }
}

/** The same variant in a newer view of its artifact. */
export function variantInView(artifact: ArtifactView, variant: VariantView): VariantView {
  return findVariant(artifact, variant.slug) ?? variant
}

/** When and by whom something was changed, as its record says it. */
export function updated(
  registry: Registry,
  { actor }: WriteContext,
): { updated_at: string; updated_by_id: string } {
  return { updated_at: registry.now().toISOString(), updated_by_id: actor.id }
}

function applyEdit<T extends Header>(record: T, edit: HeaderEdit): T {
  assertHeaderLength(edit)
  const changed = { ...record, ...edit }
  // What is null now is cleared: the codec leaves out undefined.
  return Object.fromEntries(
    Object.entries(changed).filter(([, value]) => value !== null && value !== undefined),
  ) as T
}
