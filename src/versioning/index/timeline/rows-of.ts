import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Oid } from '../../../git/objects/object.ts'
import type { ArtifactView, VariantView } from '../../artifacts/artifact-view.ts'
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
  /** Where in the rows a link is, if other variants may hold it, too. */
  const places = new Map<ChainLink, number>()
  const isShared = artifact.variants.length > 1
  for (const variant of artifact.variants) {
    if (variant.head === undefined) continue
    // Rows that the same variants hold share one list of them: there are very many rows, and few lists.
    const alone = [variant]
    const withIt = new Map<readonly VariantView[], readonly VariantView[]>()
    let link: ChainLink | undefined = await linkOf(artifact, variant.head, facts, known)
    for (; link; link = link.parent) {
      const place = places.get(link)
      const row = place === undefined ? undefined : rows[place]
      if (place === undefined || !row) {
        if (isShared) places.set(link, rows.length)
        const { seconds, author, text } = link
        rows.push({ artifact, link, seconds, author, text, holders: alone })
        continue
      }
      const holders = withIt.get(row.holders) ?? [...row.holders, variant]
      withIt.set(row.holders, holders)
      rows[place] = { ...row, holders }
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
    const { oid, seconds, author, text } = commit
    // Not spread: what is added to a copy lies beside it, which makes each of very many a third larger.
    link = { oid, parent: link, seconds, author, text, depth: (link?.depth ?? 0) + 1 }
    known.set(oid, link)
  }
  if (!link) throw new Error(`the chain of ${head} was walked but not learned`)
  return link
}
