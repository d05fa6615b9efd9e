import { Refusal } from '../../errors.ts'
import type { Transaction } from '../../git/transactions.ts'
import type { ArtifactState } from '../artifacts/artifact-record.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { commitChange } from '../artifacts/change-artifact.ts'
import { variantUuid } from '../store/ids.ts'
import type { Registry } from '../store/registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { assertVariantFree, freeVariantSlug, NamesInUse } from '../slugs/claim-slugs.ts'
import { claimVariant } from '../index/slug-table.ts'
import type { WriteContext } from '../store/write-context.ts'
import { planVariant } from './create-variant.ts'

/**
 * The default variant of an artifact, or a plan for one if there is none yet (interface 4.1, 4.10): the first revision committed to it
 * creates it in the same write, so that a refused commit leaves no variant behind.
 */
export async function defaultVariantOrNew(
  registry: Registry,
  artifact: ArtifactView,
  { actor }: WriteContext,
): Promise<VariantLocation> {
  const { defaultVariant, digits, family } = artifact
  if (defaultVariant) return { artifact, variant: defaultVariant }
  const slug = await freeVariantSlug(registry, family, artifact.slug)
  const record = { name: slug, created_at: registry.now().toISOString(), created_by_id: actor.id }
  const since = record.created_at
  const id = variantUuid(slug, digits)
  return { artifact, variant: { slug, id, head: undefined, record, since, isPending: true } }
}

/** Creates the variant in the transaction that commits its first revision, unless another write was faster. */
export async function makeDefaultVariant(
  registry: Registry,
  { artifact, variant }: VariantLocation,
  state: ArtifactState,
  { actor }: WriteContext,
  transaction: Transaction,
): Promise<void> {
  const { slug } = variant
  if (state.variants.has(slug)) return
  if (state.variants.size > 0 || transaction.refs('refs/heads/').size > 0) {
    throw new Refusal(
      'revision_conflict',
      `The ${artifact.family.name} "${artifact.slug}" got its first variant while this was on its way. Send it again.`,
    )
  }
  assertVariantFree(artifact, NamesInUse.of(state, transaction), slug)
  claimVariant(transaction, artifact.family, slug)
  const change = planVariant(registry, slug, { header: {} }, { actor }, state, transaction)
  await commitChange(registry, artifact, state, change, { actor }, transaction)
}
