import { boundedHeader } from './bounded-header.ts'
import type { Oid } from '../git/objects/object.ts'
import type { Transaction } from '../git/transactions/transaction.ts'
import type { ArtifactState } from './artifact-state.ts'
import type { MetaChange, WriteContext } from './change-artifact.ts'
import type { Header, VariantRecord } from './records.ts'
import type { Registry } from './registry.ts'

/** What the record of a new variant is made of. */
export interface VariantPlan {
  readonly header: Header
  /** The commit it begins at (a fork); undefined for a variant without revisions. */
  readonly start?: Oid | undefined
}

/**
 * The change that adds a variant to an artifact, with the refs that follow from it: for a fork its branch, for the first
 * variant HEAD.
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
  if (isFirst) transaction.follow('HEAD', `ref: refs/heads/${slug}`)
  if (start !== undefined) transaction.follow(`refs/heads/${slug}`, start)
  const subject =
    start === undefined ? `Create variant ${slug}` : `Fork variant ${slug} at ${start.slice(0, 12)}`
  return { subject, variants: { [slug]: newVariant(registry, slug, { header, start }, context) } }
}

/** The record of a variant that comes to be now. */
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
