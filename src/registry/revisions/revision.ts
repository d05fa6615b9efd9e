import { LRUCache } from 'lru-cache'
import { type HistoryNode, ancestorAt, isOnChain } from '../../git/history.ts'
import type { Oid } from '../../git/objects.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { ArchivedRecord, ArtifactRecord } from '../artifacts/artifact-record.ts'
import { Refusal } from '../../errors.ts'
import type { Family, Payload } from '../payload/family.ts'
import { objectUuid, oidPrefix } from '../store/ids.ts'
import type { StoredRevision } from './stored-revision.ts'
import type { Actor } from '../store/write-context.ts'

/** A revision's place: the current artifact, the variant through which it was reached, the commit and its version. */
export interface RevisionLocation {
  readonly artifact: ArtifactView
  readonly variant: VariantView
  readonly oid: Oid
  /** First-parent depth: 1 for the first commit of a variant (interface 4.5). */
  readonly version: number
  /**
   * Whether the variant is only the revision's home (see `homeOf`), because the request named no variant. Other variants may contain the revision,
   * too.
   */
  readonly isHome?: boolean | undefined
}

/** A revision with everything that its record shows. */
export interface Revision extends RevisionLocation {
  readonly id: string
  /** The chosen slug while its tag exists, else `<variant slug>-<version>` (interface 4.12). */
  readonly slug: string
  readonly stored: StoredRevision
  readonly archived: ArchivedRecord | undefined
}

/** Reads the revision at this place. Refuses an undecodable one with `damaged_repository`. */
export async function readRevisionAt(place: RevisionLocation): Promise<Revision> {
  const revision = await readListedRevision(place)
  if (revision.stored.damage) throw revision.stored.damage
  return revision
}

/** The same for a list, and for the answer to a write: an undecodable revision is shown without the parts that cannot be read. */
export async function readListedRevision(place: RevisionLocation, signal?: AbortSignal): Promise<Revision> {
  const { artifact, oid } = place
  const { objects } = artifact.repository
  const stored = await artifact.revisions.readForList(objects, oid, signal)
  return revisionOf(place, stored)
}

/** The same for a list without payloads: a payload that is not cached is left out, except the parts on which flags depend. */
export async function readOutline(place: RevisionLocation, signal?: AbortSignal): Promise<Revision> {
  const { artifact, oid } = place
  const { objects } = artifact.repository
  const stored = await artifact.revisions.readOutline(objects, oid, signal)
  return revisionOf(place, stored)
}

/** The same for a list that shows only author, date and message: without header and payload. */
export async function readCommitAt(place: RevisionLocation): Promise<Revision> {
  const { artifact, oid } = place
  return revisionOf(place, await artifact.revisions.readCommit(artifact.repository.objects, oid))
}

/** A stored revision, with the facts from its artifact. */
export function revisionOf(
  { artifact, variant, oid, version }: RevisionLocation,
  stored: StoredRevision,
): Revision {
  const id = objectUuid(oid, artifact.digits)
  const chosen = stored.trailers.slug
  const slug =
    chosen !== undefined && artifact.tags.get(chosen) === oid ? chosen : `${variant.slug}-${version}`
  return { artifact, variant, oid, version, id, slug, stored, archived: artifact.archived.get(id) }
}

/** The place of the commit `oid` in `variant`. */
export async function locate(
  artifact: ArtifactView,
  variant: VariantView,
  oid: Oid,
): Promise<RevisionLocation> {
  const { depth } = await artifact.repository.history.node(oid)
  return { artifact, variant, oid, version: depth }
}

/** The variant's newest revision that is not archived individually (interface 4.24); undefined if there is none. */
export async function latestOf(
  artifact: ArtifactView,
  variant: VariantView,
): Promise<RevisionLocation | undefined> {
  if (variant.head === undefined) return undefined
  let node: HistoryNode | undefined = await artifact.repository.history.node(variant.head)
  if (artifact.archived.size > 0) {
    while (node && artifact.archived.has(objectUuid(node.oid, artifact.digits))) node = node.parent
  }
  return node && { artifact, variant, oid: node.oid, version: node.depth }
}

/** The variant's revision with this version, archived or not; undefined if there is none. */
export async function versionOf(
  artifact: ArtifactView,
  variant: VariantView,
  version: number,
): Promise<RevisionLocation | undefined> {
  if (variant.head === undefined) return undefined
  const node = ancestorAt(await artifact.repository.history.node(variant.head), version)
  return node && { artifact, variant, oid: node.oid, version }
}

/**
 * The place of the revision with this id at its home: a commit on the first-parent chain of a branch or tag (interface 1.13). Undefined if there
 * is none.
 */
export async function findRevisionById(
  artifact: ArtifactView,
  id: string,
): Promise<RevisionLocation | undefined> {
  const { repository, digits } = artifact
  const known = knownCommits.get(repository)
  const seen = known?.get(id)
  // The search reports any problem.
  const again = seen === undefined ? undefined : await homeOf(artifact, seen).catch(() => undefined)
  if (again) return again
  for (const oid of await repository.objects.startingWith(oidPrefix(id))) {
    if (objectUuid(oid, digits) !== id) continue
    if ((await repository.objects.read(oid))?.kind !== 'commit') continue
    const place = await homeOf(artifact, oid)
    if (!place) continue
    if (known) known.set(id, oid)
    else knownCommits.set(repository, new LRUCache<string, Oid>({ max: 100 }).set(id, oid))
    return place
  }
  return undefined
}

/** The commits of recently used ids: an id contains only a part of the commit's id, and finding the rest needs a folder to be read. */
const knownCommits = new WeakMap<object, LRUCache<string, Oid>>()

/**
 * The commit's place at its home (see `homeAmong`). A commit that only a tag contains is shown at the variant for which it was made, or the
 * default one. Undefined if no branch or tag contains it.
 */
export async function homeOf(artifact: ArtifactView, oid: Oid): Promise<RevisionLocation | undefined> {
  const node = await artifact.repository.history.node(oid)
  const holders = await variantsHolding(artifact, node)
  const { trailers } = await artifact.revisions.readForList(artifact.repository.objects, oid)
  const home = homeAmong(holders, trailers.variant)
  if (home) return { artifact, variant: home, oid, version: node.depth, isHome: true }
  if (!(await isHeldByTag(artifact, node))) return undefined
  const origin = trailers.variant === undefined ? undefined : findVariant(artifact, trailers.variant)
  const variant = origin ?? artifact.defaultVariant
  return variant && { artifact, variant, oid, version: node.depth, isHome: true }
}

/**
 * The home of a commit among the variants that contain it, oldest first (interface 4.29): the live one in its `Variant:` trailer, else the oldest
 * live one, else the oldest one. Undefined if there are none.
 */
export function homeAmong(
  holders: readonly VariantView[],
  madeOn: string | undefined,
): VariantView | undefined {
  let oldest: VariantView | undefined
  for (const variant of holders) {
    if (variant.record.deleted_at !== undefined) continue
    if (variant.slug === madeOn) return variant
    oldest ??= variant
  }
  return oldest ?? holders[0]
}

/** Whether the variant is not archived. */
export function isLive({ record }: VariantView): boolean {
  return record.deleted_at === undefined
}

/** Whether the variant's first-parent chain contains the revision. */
export async function isHeldBy({ artifact, oid }: RevisionLocation, { head }: VariantView): Promise<boolean> {
  if (head === undefined) return false
  const { history } = artifact.repository
  return isOnChain(await history.node(oid), await history.node(head))
}

/** The variants whose first-parent chain contains the commit, oldest first. */
export async function variantsHolding(artifact: ArtifactView, node: HistoryNode): Promise<VariantView[]> {
  const holders: VariantView[] = []
  for (const variant of artifact.variants) {
    if (variant.head === undefined) continue
    if (isOnChain(node, await artifact.repository.history.node(variant.head))) holders.push(variant)
  }
  return holders
}

async function isHeldByTag(artifact: ArtifactView, node: HistoryNode): Promise<boolean> {
  for (const oid of artifact.tags.values()) {
    if (isOnChain(node, await artifact.repository.history.node(oid))) return true
  }
  return false
}

/** All flags of a revision in their order in answers: the artifact's roles, then those derived from the payload (interface 7.10). */
export function revisionFlags(
  artifact: ArtifactView,
  payload: Payload | undefined,
): Readonly<Record<string, boolean>> {
  const { family, record } = artifact
  const flags: Record<string, boolean> = {}
  for (const role of family.roles) flags[role] = record.flags?.[role] ?? false
  return Object.assign(flags, family.flags(payload))
}

/** The commit date, `YYYY-MM-DDTHH:MM:SSZ` (interface 4.19). */
export function dateOf(revision: Revision): string {
  return isoSeconds(revision.stored.commit.committer.seconds)
}

/** Seconds since 1970 as an RFC 3339 time in UTC without a fraction. */
export function isoSeconds(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')
}

/** An action that is refused for archived things. */
export type ArchivedUse = 'write to' | 'deploy' | 'merge' | 'restore'

/** Refuses to write to an archived thing, and to deploy or merge it (interface 4.28). */
export function assertActive(
  level: 'artifact' | 'variant' | 'revision',
  slug: string,
  record: { readonly deleted_at?: string | undefined } | undefined,
  use: ArchivedUse = 'write to',
): void {
  if (record?.deleted_at === undefined) return
  throw new Refusal(
    'archived',
    `The ${level} "${slug}" was archived at ${record.deleted_at}. Unarchive it before you ${use} it.`,
  )
}

/** Refuses a revision that is archived individually. */
export function assertRevisionActive(
  { artifact, variant, oid, version }: RevisionLocation,
  use?: ArchivedUse,
): void {
  const record = artifact.archived.get(objectUuid(oid, artifact.digits))
  assertActive('revision', `${variant.slug}-${version}`, record, use)
}

/**
 * Refuses to deploy if the artifact, the revision itself, or every variant that contains it is archived (interface 4.28). All ways of deploying
 * use this rule.
 */
export async function assertDeployable(place: RevisionLocation): Promise<void> {
  const { artifact, oid } = place
  assertActive('artifact', artifact.slug, artifact.record, 'deploy')
  assertRevisionActive(place, 'deploy')
  const holders = await variantsHolding(artifact, await artifact.repository.history.node(oid))
  if (holders.some(({ record }) => record.deleted_at === undefined)) return
  const own = holders.find(({ slug }) => slug === place.variant.slug) ?? holders[0]
  if (own) assertActive('variant', own.slug, own.record, 'deploy')
}

/** Refuses a write to a guarded artifact, or one that would guard it, with a key that may not deploy (interface 9.10). */
export function assertUnguarded(
  { guardFlag, name }: Family,
  { slug, flags }: Pick<ArtifactRecord, 'slug' | 'flags'>,
  actor: Actor,
): void {
  if (guardFlag === undefined || actor.mayDeploy || !flags?.[guardFlag]) return
  throw new Refusal(
    'guarded',
    `The ${name} "${slug}" is guarded, or would be now, and the key "${actor.name}" lacks the scope "deploy". Use a key that has it.`,
    { details: { scope: 'deploy' } },
  )
}
