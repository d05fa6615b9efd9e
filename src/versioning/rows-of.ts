import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Oid } from '../git/object.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import type { CommitFacts } from './commit-facts.ts'
import type { KnownFacts } from './known-facts.ts'
import type { ChainLink, TimelineRow } from './timeline-row.ts'

/** So many commits are looked at before other work gets its turn. */
const BREATH = 50

/**
 * The rows of an artifact, in no order. `before` are those of an earlier view of it, whose commits are not read again. Refuses with
 * `damaged_repository` if one cannot be read.
 */
export async function rowsOf(
  artifact: ArtifactView,
  facts: KnownFacts,
  before: readonly TimelineRow[] = [],
): Promise<readonly TimelineRow[]> {
  const known = new Map<Oid, ChainLink>()
  for (const { link } of before) known.set(link.oid, link)
  const rows: TimelineRow[] = []
  const held = new Map<ChainLink, VariantView[]>()
  const isShared = artifact.variants.length > 1
  for (const variant of artifact.variants) {
    if (variant.head === undefined) continue
    const alone = [variant]
    let link: ChainLink | undefined = await linkOf(artifact, variant.head, facts, known)
    for (; link; link = link.parent) {
      const { seconds, author, text } = link
      const others = held.get(link)
      if (others) others.push(variant)
      else {
        // Where no other variant can hold it, one list of holders does for all rows.
        const holders = isShared ? [variant] : alone
        rows.push({ artifact, link, seconds, author, text, holders })
        if (isShared) held.set(link, holders)
      }
    }
  }
  return rows
}

/** The link of a commit; those that had to be looked at for it are known from then on. */
async function linkOf(
  { repository }: ArtifactView,
  head: Oid,
  facts: KnownFacts,
  known: Map<Oid, ChainLink>,
): Promise<ChainLink> {
  const unknown: CommitFacts[] = []
  let next: Oid | undefined = head
  while (next !== undefined && !known.has(next)) {
    const found: CommitFacts | Promise<CommitFacts> = facts.of(repository.objects, next)
    const commit: CommitFacts = found instanceof Promise ? await found : found
    unknown.push(commit)
    next = commit.parent
    if (unknown.length % BREATH === 0) await nextTurn()
  }
  let link = next === undefined ? undefined : known.get(next)
  for (const commit of unknown.reverse()) {
    link = { ...commit, parent: link, depth: (link?.depth ?? 0) + 1 }
    known.set(commit.oid, link)
  }
  if (!link) throw new Error(`the chain of ${head} was walked but not learned`)
  return link
}
