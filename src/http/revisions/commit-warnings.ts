import type { ResultAddress } from '../../access/intent-file.ts'
import { danglingReferences } from '../../embeds/dangling-references.ts'
import { findEmbeds } from '../../embeds/syntax/find-embeds.ts'
import { committedViolation } from '../../invocation/effective.ts'
import type { Json } from '../../json/json.ts'
import { documentOf } from '../../versioning/family/document-family.ts'
import type { Family, MetRows, Warning } from '../../versioning/family/family.ts'
import { LargeDocument } from '../../versioning/family/large-document.ts'
import { pinWarnings } from '../../versioning/environments/pin-warnings.ts'
import type { Registry } from '../../versioning/registry.ts'
import { type CommittedRevision, warningsOf } from '../../versioning/revisions/commit-revision.ts'
import { revisionById } from '../../versioning/revisions/references.ts'
import {
  readListedRevision,
  type Revision,
  type RevisionLocation,
} from '../../versioning/revisions/revision.ts'
import { shadowWarnings } from '../../versioning/slugs/shadowed-slugs.ts'
import { presentDeployments } from '../schemas/deployments.ts'
import type { PresentOptions } from '../presenters/record.ts'

/**
 * What the sender of a revision should know of it: `own` is what the payload says by itself, beside it each reference that
 * points at nothing now, at its location, and where parameters break the schema that stands beside them, as `inspect` says it of a draft.
 */
export async function commitWarnings(
  registry: Registry,
  revision: Revision | undefined,
  own: readonly Warning[] = [],
): Promise<readonly Warning[]> {
  if (!revision) return own
  const { family } = revision.artifact
  const { payload } = revision.stored
  // What was not committed but moved to, and is too large to look through, is stored since long.
  if (!payload || payload instanceof LargeDocument) return own
  if (family.pins) return [...own, ...(await pinWarnings(registry, family, payload))]
  if (!family.mayEmbed) return own
  const data = documentOf(payload)
  const { tokens, inert } = findEmbeds(data)
  const isPlain = tokens.length === 0 && inert.length === 0
  const dangling = isPlain ? [] : await danglingReferences(registry, data)
  return [...own, ...dangling, ...(await committedViolation(registry, data))]
}

/** What a commit was asked for that its answer tells of. */
export interface CommitAsked {
  /** The slugs of the environments that it deploys to. */
  readonly deploy?: readonly string[] | undefined
  readonly ifChanged?: boolean | undefined
  /** The slug that was chosen for it. */
  readonly slug?: string | undefined
}

/**
 * What an answer tells of a commit beside its revision: whether there was something to commit, if that was asked, what its sender should
 * know, and where it was deployed in the same write.
 */
export async function toldOfCommit(
  registry: Registry,
  { revision, changed, met, warnings: own, deployedTo }: CommittedRevision,
  { deploy = [], ifChanged, slug }: CommitAsked,
  present: PresentOptions,
): Promise<object> {
  const isNamed = changed && slug !== undefined
  const shadowed = isNamed ? await shadowWarnings(registry, revision.artifact, [['tag', slug]]) : []
  const warnings = [...(await commitWarnings(registry, revision, own)), ...shadowed]
  const told = { ...(ifChanged && { changed }), ...met, ...(warnings.length > 0 && { warnings }) }
  if (deploy.length === 0) return told
  if (revision.stored.damage) throw revision.stored.damage
  return { ...told, deployments: presentDeployments(revision, [...new Set(deploy)], deployedTo, present) }
}

/** What of a commit its repetition has to know that the revision does not say. */
export function unchangedOf({
  revision,
  changed,
  met,
  deployedTo,
}: Omit<CommittedRevision, 'warnings'>): Pick<ResultAddress, 'variant' | 'unchanged' | 'file'> {
  const file = met && { file: met }
  return changed
    ? { ...file }
    : { ...file, variant: revision.variant.id, unchanged: { deployed_to: [...deployedTo] } }
}

/** The commit that was answered with this address; `sent` is its `data`, and `deploy` as above. */
export async function recalledCommit(
  registry: Registry,
  family: Family,
  address: ResultAddress,
  { sent, deploy = [] }: { readonly sent?: Json | undefined } & Pick<CommitAsked, 'deploy'> = {},
): Promise<CommittedRevision> {
  const place = await recalledPlace(registry, family, address)
  const { unchanged } = address
  const met = metOf(address)
  const warnings = await warningsOf(registry, place, sent)
  const revision = await readListedRevision(place)
  return { revision, changed: !unchanged, met, warnings, deployedTo: unchanged?.deployed_to ?? deploy }
}

/** What became of rows that were sent; undefined where only the ids of a result are known. */
export function metOf({ file }: ResultAddress): MetRows | undefined {
  return file && { collapsed: file.collapsed, replaced: file.replaced }
}

/** The revision of a result, under the variant that the first answer named. */
export async function recalledPlace(
  registry: Registry,
  family: Family,
  { id, revision = id, variant: variantId }: ResultAddress,
): Promise<RevisionLocation> {
  const place = await revisionById(registry, family, revision)
  const variant = place.artifact.variants.find((it) => it.id === variantId)
  return variant ? { ...place, variant, isHome: false } : place
}
