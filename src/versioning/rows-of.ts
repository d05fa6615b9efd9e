import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import { decodeMessage } from './commit-message.ts'
import type { ChainLink, TimelineRow } from './timeline-row.ts'
import { readBytes } from './tree-files.ts'

/** A message of more characters is not kept: nothing else bounds them, and the commit has it. */
const LONG_TEXT = 1000

/** So many commits are read before other work gets its turn. */
const BREATH = 50

/**
 * The rows of an artifact, in no order. `before` are those of an earlier view of it, whose commits are not read again. Refuses with
 * `damaged_repository` if one cannot be read.
 */
export async function rowsOf(
  artifact: ArtifactView,
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
    let link: ChainLink | undefined = await linkOf(artifact, variant.head, known)
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

/** The link of a commit; those that had to be read for it are known from then on. */
async function linkOf(artifact: ArtifactView, head: Oid, known: Map<Oid, ChainLink>): Promise<ChainLink> {
  const unknown: Omit<ChainLink, 'parent' | 'depth'>[] = []
  let next: Oid | undefined = head
  while (next !== undefined && !known.has(next)) {
    const commit = parseCommit(await readBytes(artifact.repository.objects, next, 'commit'))
    const { author, committer } = commit
    unknown.push({
      oid: next,
      seconds: committer.seconds,
      author: ownCopy(`${author.name} <${author.email}>`),
      text: textOf(decodeMessage(commit.message).message),
    })
    next = commit.parents[0]
    if (unknown.length % BREATH === 0) await nextTurn()
  }
  let link = next === undefined ? undefined : known.get(next)
  for (const facts of unknown.reverse()) {
    link = { ...facts, parent: link, depth: (link?.depth ?? 0) + 1 }
    known.set(facts.oid, link)
  }
  if (!link) throw new Error(`the chain of ${head} was walked but not learned`)
  return link
}

function textOf(message: string | undefined): ChainLink['text'] {
  if (message === undefined) return undefined
  return message.length > LONG_TEXT ? null : ownCopy(message.toLowerCase())
}

/** The text in memory of its own: a part of a string keeps all of it, here the whole commit. */
function ownCopy(text: string): string {
  return Buffer.from(text).toString()
}
