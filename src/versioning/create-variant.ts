import { Refusal } from '../errors.ts'
import { parseCommit } from '../git/objects/commit.ts'
import { META_REF, readArtifactState } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { findVariant } from './artifact-view.ts'
import { assertActive } from './assert-active.ts'
import type { WriteContext } from './change-artifact.ts'
import { changeArtifact } from './change-artifact.ts'
import { assertSlugFree, freeVariantSlug } from './claim-slugs.ts'
import type { VariantPlan } from './plan-variant.ts'
import { planVariant } from './plan-variant.ts'
import type { VariantPlace } from './references.ts'
import type { Registry } from './registry.ts'
import type { FinishedAttempt } from './resume-attempt.ts'
import { resumeAttempt } from './resume-attempt.ts'
import { readBytes } from './tree-files.ts'

/** What a request for a new variant says; `loc` is where its slug stands in the request. */
export interface NewVariant extends VariantPlan {
  readonly slug?: string | undefined
  readonly loc: readonly (string | number)[]
}

/**
 * Adds a variant to an artifact: its record, and for a fork a branch at the start commit and nothing else (ruling 3.9). The
 * first variant of an artifact becomes the default one. Refuses archived artifacts and taken slugs.
 */
export async function createVariant(
  registry: Registry,
  artifact: ArtifactView,
  input: NewVariant,
  context: WriteContext,
): Promise<VariantPlace> {
  const { family } = artifact
  const earlier = await resumeAttempt(registry, artifact, META_REF, context)
  if (earlier) return variantMadeBy(earlier)
  return registry.store.claimingSlugs(async () => {
    const slug = input.slug ?? (await freeVariantSlug(registry, family, artifact.slug))
    await assertSlugFree(registry, family, 'variant', slug, input.loc)
    const changed = await changeArtifact(registry, artifact, context, (state, transaction) => {
      assertActive('artifact', artifact.slug, state.artifact)
      return planVariant(registry, slug, input, context, state, transaction)
    })
    const variant = findVariant(changed, slug)
    if (!variant)
      throw new Refusal('variant_not_found', `The variant "${slug}" vanished as soon as it was made.`)
    return { artifact: changed, variant }
  })
}

/** The variant that an attempt added: its slug may have been generated, so it is read from what the commit changed. */
async function variantMadeBy({ artifact, commit }: FinishedAttempt): Promise<VariantPlace> {
  const { objects } = artifact.repository
  const [parent] = parseCommit(await readBytes(objects, commit, 'commit')).parents
  const before = parent === undefined ? undefined : await readArtifactState(objects, parent)
  const { variants } = await readArtifactState(objects, commit)
  const slug = [...variants.keys()].find((it) => !before?.variants.has(it))
  const variant = slug === undefined ? undefined : findVariant(artifact, slug)
  if (variant) return { artifact, variant }
  throw new Refusal('variant_not_found', `The variant that commit ${commit} made is gone.`)
}
