import { Refusal } from '../../errors.ts'
import { parseCommit, type Oid } from '../../git/objects.ts'
import type { Transaction } from '../../git/transactions.ts'
import {
  type ArtifactState,
  type Header,
  META_REF,
  readArtifactState,
  type VariantRecord,
} from '../artifacts/artifact-record.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { MetaChange } from '../artifacts/change-artifact.ts'
import { changeArtifact } from '../artifacts/change-artifact.ts'
import { assertActive } from '../revisions/revision.ts'
import { readBytes } from '../payload/tree-files.ts'
import type { FinishedAttempt } from '../revisions/find-earlier-attempt.ts'
import { findEarlierAttempt } from '../revisions/find-earlier-attempt.ts'
import type { Registry } from '../store/registry.ts'
import type { VariantLocation } from '../revisions/references.ts'
import { boundedHeader } from '../revisions/stored-revision.ts'
import { assertVariantFree, freeVariantSlug, NamesInUse } from '../slugs/claim-slugs.ts'
import { assertSlug } from '../slugs/slug.ts'
import { claimVariant } from '../index/slug-table.ts'
import type { WriteContext } from '../store/write-context.ts'

/** A request for a new variant; `loc` is its slug's place in the request. */
export interface NewVariant extends VariantPlan {
  readonly slug?: string | undefined
  readonly loc: readonly (string | number)[]
}

/**
 * Adds a variant to an artifact: its record, and for a fork only a branch at the start commit (interface
 * 4.22). An artifact's first variant becomes the default. Refuses archived artifacts and taken slugs.
 */
export async function createVariant(
  registry: Registry,
  artifact: ArtifactView,
  input: NewVariant,
  context: WriteContext,
): Promise<VariantLocation> {
  const { family } = artifact
  const earlier = await findEarlierAttempt(registry, artifact, META_REF, context)
  if (earlier) return variantMadeBy(earlier)
  return registry.store.claimingSlugs(async () => {
    const slug = input.slug ?? (await freeVariantSlug(registry, family, artifact.slug))
    assertSlug(slug, input.loc)
    const changed = await changeArtifact(registry, artifact, context, (state, transaction) => {
      assertActive('artifact', artifact.slug, state.artifact)
      assertVariantFree(artifact, NamesInUse.of(state, transaction), slug)
      claimVariant(transaction, family, slug)
      return planVariant(registry, slug, input, context, state, transaction)
    })
    const variant = findVariant(changed, slug)
    if (!variant)
      throw new Refusal('variant_not_found', `The variant "${slug}" vanished as soon as it was made.`)
    return { artifact: changed, variant }
  })
}

/**
 * The variant that an attempt added. Its slug may have been generated, so it is read from the commit's
 * changes.
 */
async function variantMadeBy({ artifact, commit }: FinishedAttempt): Promise<VariantLocation> {
  const { objects } = artifact.repository
  const [parent] = parseCommit(await readBytes(objects, commit, 'commit')).parents
  const before = parent === undefined ? undefined : await readArtifactState(objects, parent)
  const { variants } = await readArtifactState(objects, commit)
  const slug = [...variants.keys()].find((it) => !before?.variants.has(it))
  const variant = slug === undefined ? undefined : findVariant(artifact, slug)
  if (variant) return { artifact, variant }
  throw new Refusal('variant_not_found', `The variant that commit ${commit} made is gone.`)
}

/** The content of a new variant's record. */
export interface VariantPlan {
  readonly header: Header
  /** The commit it begins at (a fork); undefined for a variant without revisions. */
  readonly start?: Oid | undefined
}

/**
 * The change that adds a variant to an artifact. Also sets the refs that follow from it: a fork's branch, and
 * HEAD for the first variant.
 */
export function planVariant(
  registry: Registry,
  slug: string,
  { header, start }: VariantPlan,
  context: WriteContext,
  state: ArtifactState,
  transaction: Transaction,
): MetaChange {
  const isFirst = state.variants.size === 0 && transaction.refs('refs/heads/').size === 0
  if (isFirst) transaction.setDerivedRef('HEAD', `ref: refs/heads/${slug}`)
  if (start !== undefined) transaction.setDerivedRef(`refs/heads/${slug}`, start)
  const subject =
    start === undefined ? `Create variant ${slug}` : `Fork variant ${slug} at ${start.slice(0, 12)}`
  return { subject, variants: { [slug]: newVariant(registry, slug, { header, start }, context) } }
}

/** The record of a new variant. */
export function newVariant(
  registry: Registry,
  slug: string,
  { header, start }: VariantPlan,
  context: WriteContext,
): VariantRecord {
  return {
    ...boundedHeader(header),
    name: header.name ?? slug,
    created_at: registry.now().toISOString(),
    created_by_id: context.actor.id,
    ...(start === undefined ? {} : { start }),
  }
}
