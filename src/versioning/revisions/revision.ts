import { LRUCache } from 'lru-cache'
import type { HistoryNode } from '../../git/history/first-parent-history.ts'
import { ancestorAt, isOnChain } from '../../git/history/first-parent-history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'
import type { ArchivedRecord } from '../artifacts/artifact-record.ts'
import type { Payload } from '../family/family.ts'
import { objectUuid, oidPrefix } from '../ids.ts'
import type { Registry } from '../registry.ts'
import type { StoredRevision } from './decoded-revision.ts'

/** A revision's place: the artifact as it is now, the variant it was reached through, the commit and its version. */
export interface RevisionLocation {
  readonly artifact: ArtifactView
  readonly variant: VariantView
  readonly oid: Oid
  /** First-parent depth: 1 for the first commit of a variant (interface 4.5). */
  readonly version: number
  /** Whether nothing named the variant, so that it is only the revision's home (see `homeOf`): others may hold the revision as well. */
  readonly isHome?: boolean | undefined
}

/** A revision with everything a record of it shows. */
export interface Revision extends RevisionLocation {
  readonly id: string
  /** The chosen slug if its tag stands, else `<variant slug>-<version>` (interface 4.12). */
  readonly slug: string
  readonly stored: StoredRevision
  readonly archived: ArchivedRecord | undefined
}

/** Reads what a record of the revision at this place shows. Refuses with `damaged_repository` what does not decode. */
export async function readRevisionAt(registry: Registry, place: RevisionLocation): Promise<Revision> {
  const revision = await readListedRevision(registry, place)
  if (revision.stored.damage) throw revision.stored.damage
  return revision
}

/** The same for a list, and for the answer of a write that did not ask: what does not decode is shown without it. */
export async function readListedRevision(
  registry: Registry,
  place: RevisionLocation,
  signal?: AbortSignal,
): Promise<Revision> {
  const { artifact, oid } = place
  const { objects } = artifact.repository
  const stored = await registry.revisions(artifact.family).readForList(objects, oid, signal)
  return revisionOf(place, stored)
}

/** The same for a list that shows no payloads: of one that was not read lately it is left out, but for what flags follow from. */
export async function readOutline(
  registry: Registry,
  place: RevisionLocation,
  signal?: AbortSignal,
): Promise<Revision> {
  const { artifact, oid } = place
  const { objects } = artifact.repository
  const stored = await registry.revisions(artifact.family).readOutline(objects, oid, signal)
  return revisionOf(place, stored)
}

/** The same where only who made it, when and why is shown: without header and payload. */
export async function readCommitAt(registry: Registry, place: RevisionLocation): Promise<Revision> {
  const { artifact, oid } = place
  return revisionOf(
    place,
    await registry.revisions(artifact.family).readCommit(artifact.repository.objects, oid),
  )
}

/** What is stored at a place, with what its artifact says of it. */
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

/** The place of the commit `oid` as reached through `variant`. */
export async function locate(
  artifact: ArtifactView,
  variant: VariantView,
  oid: Oid,
): Promise<RevisionLocation> {
  const { depth } = await artifact.repository.history.node(oid)
  return { artifact, variant, oid, version: depth }
}

/** The variant's newest revision that is not archived by itself (interface 4.24); undefined if there is none. */
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

/** The variant's revision of this version, archived or not; undefined if it has none. */
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
 * The place of the revision an id names: a commit on the first-parent chain of a branch or tag (interface 1.13), as
 * reached through its home. Undefined if there is none.
 */
export async function findRevisionById(
  registry: Registry,
  artifact: ArtifactView,
  id: string,
): Promise<RevisionLocation | undefined> {
  const { repository, digits } = artifact
  const known = knownCommits.get(repository)
  const seen = known?.get(id)
  // If anything is wrong with it, the search says what.
  const again = seen === undefined ? undefined : await homeOf(registry, artifact, seen).catch(() => undefined)
  if (again) return again
  for (const oid of await repository.objects.startingWith(oidPrefix(id))) {
    if (objectUuid(oid, digits) !== id) continue
    if ((await repository.objects.read(oid))?.kind !== 'commit') continue
    const place = await homeOf(registry, artifact, oid)
    if (!place) continue
    if (known) known.set(id, oid)
    else knownCommits.set(repository, new LRUCache<string, Oid>({ max: 100 }).set(id, oid))
    return place
  }
  return undefined
}

/** The commits that ids were last found to name: an id says half of it, and looking for the rest reads a folder. */
const knownCommits = new WeakMap<object, LRUCache<string, Oid>>()

/**
 * The commit's place at its home (see `homeAmong`). A commit that only a tag keeps is shown at the variant it was made on, or the
 * default one. Undefined if no branch or tag holds it.
 */
export async function homeOf(
  registry: Registry,
  artifact: ArtifactView,
  oid: Oid,
): Promise<RevisionLocation | undefined> {
  const node = await artifact.repository.history.node(oid)
  const holders = await variantsHolding(artifact, node)
  const { trailers } = await registry.revisions(artifact.family).readForList(artifact.repository.objects, oid)
  const home = homeAmong(holders, trailers.variant)
  if (home) return { artifact, variant: home, oid, version: node.depth, isHome: true }
  if (!(await isHeldByTag(artifact, node))) return undefined
  const origin = trailers.variant === undefined ? undefined : findVariant(artifact, trailers.variant)
  const variant = origin ?? artifact.defaultVariant
  return variant && { artifact, variant, oid, version: node.depth, isHome: true }
}

/**
 * The home of a commit among the variants whose chain holds it, oldest first (interface 4.29): the live one that it was made on, as its
 * `Variant:` trailer says, else the oldest live one, else the oldest one. Undefined if there are none.
 */
export function homeAmong(
  holders: readonly VariantView[],
  madeOn: string | undefined,
): VariantView | undefined {
  const live = holders.filter(isLive)
  return live.find(({ slug }) => slug === madeOn) ?? live[0] ?? holders[0]
}

/** Whether the variant is not archived. */
export function isLive({ record }: VariantView): boolean {
  return record.deleted_at === undefined
}

/** Whether the variant's first-parent chain holds the revision. */
export async function isHeldBy({ artifact, oid }: RevisionLocation, { head }: VariantView): Promise<boolean> {
  if (head === undefined) return false
  const { history } = artifact.repository
  return isOnChain(await history.node(oid), await history.node(head))
}

/** The variants whose first-parent chain holds the commit, oldest first. */
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

/** All flags of a revision in wire order: the artifact's roles, then what is derived from the payload (interface 7.10). */
export function revisionFlags(
  artifact: ArtifactView,
  payload: Payload | undefined,
): Readonly<Record<string, boolean>> {
  const { family, record } = artifact
  const flags: Record<string, boolean> = {}
  for (const role of family.roles) flags[role] = record.flags?.[role] ?? false
  return Object.assign(flags, family.flags(payload))
}
