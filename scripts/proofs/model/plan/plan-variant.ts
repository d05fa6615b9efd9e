import type { ActualBody, Expectation, ModelRequest, Planned, Told } from '../expectation.ts'
import { refused } from '../expectation.ts'
import { addVariant } from '../learn.ts'
import { variantRecord } from '../state/model-records.ts'
import type { ModelReferences } from '../state/model-references.ts'
import { disagreementsOf, resolve } from '../state/model-references.ts'
import { generatedVariantSlug, isVariantSlugTaken, shadowsOf } from '../state/model-slugs.ts'
import type { ModelArtifact, ModelRevision, ModelState } from '../state/model-state.ts'
import { definedOf } from '../state/model-state.ts'
import { pickFrom, referencesOf, wrongId } from './pick-targets.ts'
import type { ForkStep, Step, VariantStep } from '../step.ts'

/** `POST /<x>s/variants/`: a variant without revisions (interface 4.1). */
export function planVariant(state: ModelState, step: VariantStep & Step): Planned {
  const { surface, pick, slug, header } = step
  const artifact = pickFrom(state.artifacts, pick)
  const parent = [`${surface}_id`, 'workflow_id', 'artifact_id'][pick % 3] ?? ''
  const id = artifact?.id ?? wrongId(state, 'artifact', pick)
  const request: ModelRequest = {
    method: 'POST',
    path: `/${surface}s/variants/`,
    body: { [`${surface}_variant`]: definedOf({ [parent]: id, slug, ...header }) },
  }
  return { request, expected: expectVariant(state, step, artifact) }
}

/** `POST …/variants/fork`: a variant at an existing revision, and nothing else (interface 4.22). */
export function planFork(state: ModelState, step: ForkStep & Step): Planned {
  const { surface, slug, header, shared } = step
  const references = referencesOf(state, step.references)
  const request: ModelRequest = {
    method: 'POST',
    path: shared ? '/variants/fork' : `/${surface}s/variants/fork`,
    body: {
      [`${surface}_variant`]: definedOf({ slug, ...header }),
      ...referenceMembers(surface, references),
    },
  }
  const source = resolve(state, references)
  if ('refused' in source) return { request, expected: source }
  const [place] = source
  const expected = expectVariant(state, step, place?.artifact, place?.revision)
  if ('refused' in expected) return { request, expected }
  const disagreeing = place ? disagreementsOf(state, surface, references, place) : []
  const warnings = (): readonly Told[] => [...disagreeing, ...(expected.warnings?.() ?? [])]
  return { request, expected: { ...expected, warnings } }
}

/** References as members of a request body. */
export function referenceMembers(surface: string, references: ModelReferences): Record<string, object> {
  const { artifact, variant, revision } = references
  return definedOf({
    [`${surface}_ref`]: artifact,
    [`${surface}_variant_ref`]: variant,
    [`${surface}_revision_ref`]: revision,
  }) as Record<string, object> // definedOf took out what was undefined
}

function expectVariant(
  state: ModelState,
  { surface, slug: wanted, header }: (VariantStep | ForkStep) & Step,
  artifact: ModelArtifact | undefined,
  head?: ModelRevision,
): Expectation {
  if (!artifact) return refused('artifact_not_found')
  const isArchived = artifact.lifecycle.deleted_at !== undefined
  const isTaken = wanted !== undefined && isVariantSlugTaken(artifact, wanted)
  if (isArchived || isTaken) {
    return refused(...(isArchived ? ['archived' as const] : []), ...(isTaken ? ['slug_taken' as const] : []))
  }
  const slug = wanted ?? generatedVariantSlug(state, artifact.slug)
  const answer = (actual: ActualBody) => {
    const id = actual[`${surface}_variant`].id
    const variant = addVariant(state, artifact, id, { slug, header, head })
    return [{ count: 1, [`${surface}_variant`]: variantRecord({ artifact, variant }, surface) }]
  }
  return { answer, warnings: () => shadowsOf(state, artifact, [['variant', slug]]) }
}
