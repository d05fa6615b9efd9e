import { parseCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { ArtifactView } from './artifact-view.ts'
import { decodeMessage } from './commit-message.ts'
import { readBytes } from './tree-files.ts'

/** What a commit alone says about its revision, without a look at its tree: as true for ever as the commit. */
export interface ChainLink {
  readonly oid: Oid
  /** The first parent; undefined for a root. */
  readonly parent: ChainLink | undefined
  /** First-parent depth, which is the revision's version. */
  readonly depth: number
  /** When it was committed, in seconds since 1970. */
  readonly seconds: number
  /** `Name <email>`. */
  readonly author: string
  /** As the client gave it, without our trailers. */
  readonly message: string | undefined
}

/** The branches of an artifact, by the commits they stand at. */
export type Chains = ReadonlyMap<Oid, ChainLink>

/** So many commits are kept, some 200 bytes each; the branches past them are read anew whenever they are asked for. */
const MOST = 500_000

/**
 * The first-parent chains of the branches of many artifacts, kept in memory: a query over all revisions of a project asks most of them
 * no more than a chain says. Derived from the commits alone; what has moved since is walked down to what is known.
 */
export class ChainCache {
  readonly #most: number
  readonly #kept = new Map<string, Kept>()
  #commits = 0

  /** Keeps up to `most` commits. */
  constructor(most = MOST) {
    this.#most = most
  }

  /** The chains as the view has them; a promise only where commits have to be read. */
  of(artifact: ArtifactView): Chains | Promise<Chains> {
    const kept = this.#kept.get(artifact.repository.path)
    return kept?.artifact === artifact ? kept.chains : this.#read(artifact, kept?.chains)
  }

  async #read(artifact: ArtifactView, before: Chains | undefined): Promise<Chains> {
    const known = linksOf(before)
    const chains = new Map<Oid, ChainLink>()
    for (const { head } of artifact.variants) {
      if (head !== undefined) chains.set(head, await linkOf(artifact, head, known))
    }
    this.#keep({ artifact, chains, commits: known.size })
    return chains
  }

  #keep(kept: Kept): void {
    const { path } = kept.artifact.repository
    this.#commits -= this.#kept.get(path)?.commits ?? 0
    this.#kept.delete(path)
    if (this.#commits + kept.commits > this.#most) return
    this.#kept.set(path, kept)
    this.#commits += kept.commits
  }
}

interface Kept {
  readonly artifact: ArtifactView
  readonly chains: Chains
  readonly commits: number
}

function linksOf(chains: Chains | undefined): Map<Oid, ChainLink> {
  const links = new Map<Oid, ChainLink>()
  for (const head of chains?.values() ?? []) {
    for (let link: ChainLink | undefined = head; link && !links.has(link.oid); link = link.parent) {
      links.set(link.oid, link)
    }
  }
  return links
}

/** The link of a commit; what had to be read for it is known from then on. */
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
      message: ownCopy(decodeMessage(commit.message).message),
    })
    next = commit.parents[0]
  }
  let link = next === undefined ? undefined : known.get(next)
  for (const facts of unknown.reverse()) {
    link = { ...facts, parent: link, depth: (link?.depth ?? 0) + 1 }
    known.set(facts.oid, link)
  }
  if (!link) throw new Error(`the chain of ${head} was walked but not learned`)
  return link
}

/** The text in memory of its own: a part of a string keeps all of it, here the whole commit. */
function ownCopy<T extends string | undefined>(text: T): T {
  return (text && Buffer.from(text).toString()) as T // a string for a string
}
