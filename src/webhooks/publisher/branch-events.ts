import { yieldToEventLoop } from '../../scheduling/cooperative.ts'
import { parseCommit } from '../../git/objects/commit.ts'
import type { HistoryNode } from '../../git/history/first-parent-history.ts'
import { isOnChain } from '../../git/history/first-parent-history.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { ArtifactView, VariantView } from '../../versioning/artifacts/artifact-view.ts'
import type { Registry } from '../../versioning/registry.ts'
import { homeOf, readListedRevision } from '../../versioning/revisions/revision.ts'
import { readBytes } from '../../versioning/family/tree-files.ts'
import { deploymentEvents } from './deployment-events.ts'
import type { Happening } from '../registry-event.ts'
import { artifactReference } from '../registry-event.ts'
import { revisionReferences } from './revision-references.ts'
import type { PublishCursor } from './publish-cursor.ts'

/** So many revisions are read before other work gets its turn. */
const YIELD_EVERY = 100

/**
 * What became of a variant's branch since it was told: that git made it, each revision that is new on it (and not in `seen`, the
 * revisions of other branches; it is added to), and what these deployed. Oldest first.
 */
export async function branchEvents(
  registry: Registry,
  view: ArtifactView,
  variant: VariantView,
  before: PublishCursor | undefined,
  seen: Set<Oid>,
): Promise<readonly Happening[]> {
  const { head } = variant
  if (head === undefined || (before && before.heads.get(variant.slug) === head)) return []
  const { history } = view.repository
  const happenings: Happening[] = []
  const made = await madeByGit(view, variant, before)
  if (made) happenings.push(made)
  const nodes: HistoryNode[] = []
  const told = await toldNodes(view, variant, before)
  let node: HistoryNode | undefined = await history.node(head)
  while (node && !isTold(node, told)) {
    if (!seen.has(node.oid)) nodes.push(node)
    node = node.parent
  }
  for (const [index, { oid, depth }] of nodes.reverse().entries()) {
    if (index % YIELD_EVERY === YIELD_EVERY - 1) await yieldToEventLoop()
    seen.add(oid)
    const place = (await homeOf(registry, view, oid)) ?? { artifact: view, variant, oid, version: depth }
    const revision = await readListedRevision(registry, place)
    const { commit } = revision.stored
    const about = {
      cause: oid,
      subject: '',
      seconds: commit.committer.seconds,
      rank: depth,
      references: revisionReferences(revision),
      actor: commit.author,
      said: revision.stored,
    }
    happenings.push({ ...about, type: 'revision.committed' })
    for (const deployment of await deploymentEvents(registry, revision, about)) happenings.push(deployment)
  }
  return happenings
}

/** The heads that were told, this branch's own first: most often the walk ends there. */
async function toldNodes(
  { repository }: ArtifactView,
  { slug }: VariantView,
  before: PublishCursor | undefined,
): Promise<readonly HistoryNode[]> {
  if (!before) return []
  const own = before.heads.get(slug)
  const others = [...before.heads.values()].filter((oid) => oid !== own)
  const nodes: HistoryNode[] = []
  for (const oid of own === undefined ? others : [own, ...others]) {
    // A head that was rewritten may be gone from the repository by now.
    if (await repository.objects.read(oid)) nodes.push(await repository.history.node(oid))
  }
  return nodes
}

function isTold(node: HistoryNode, told: readonly HistoryNode[]): boolean {
  return told.some((head) => isOnChain(node, head))
}

/** That a branch without a record appeared: a fork if it began on another branch. */
async function madeByGit(
  view: ArtifactView,
  { slug, id, head, record }: VariantView,
  before: PublishCursor | undefined,
): Promise<Happening | undefined> {
  if (head === undefined || view.source.state.variants.has(slug)) return undefined
  if (before && before.heads.get(slug) !== undefined) return undefined
  const { history, objects } = view.repository
  const others: HistoryNode[] = []
  for (const other of view.variants) {
    if (other.slug !== slug && other.head !== undefined) others.push(await history.node(other.head))
  }
  let root = await history.node(head)
  while (root.parent && !isTold(root, others)) root = root.parent
  const { author, committer } = parseCommit(await readBytes(objects, head, 'commit'))
  const isFork = isTold(root, others)
  return {
    type: isFork ? 'variant.forked' : 'variant.created',
    rank: isFork ? root.depth + 0.5 : 0,
    // The day its first own commit was made does not change while it grows.
    cause: record.created_at,
    subject: slug,
    seconds: Math.min(Math.floor(Date.parse(record.created_at) / 1000), committer.seconds),
    references: [artifactReference(view), [`${view.family.name}_variant`, { id, slug }]],
    actor: author,
  }
}
