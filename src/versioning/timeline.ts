import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { ArtifactIndex } from './artifact-index.ts'
import type { ArtifactView, VariantView } from './artifact-view.ts'
import { decodeMessage } from './commit-message.ts'
import type { Family } from './family.ts'
import { objectUuid } from './ids.ts'
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
  /** The message as the client gave it, in lower case: what filters look into. */
  readonly text: string | undefined
}

/** Where a revision stands in a timeline. */
export interface TimelinePlace {
  readonly artifact: ArtifactView
  readonly link: Pick<ChainLink, 'oid' | 'depth'>
  /** When it was committed: here as well, since whoever goes through many looks at nothing else of most. */
  readonly seconds: number
}

/** A commit on the branches of an artifact, and the variants that hold it, oldest first. */
export interface TimelineRow extends TimelinePlace {
  readonly link: ChainLink
  readonly holders: readonly VariantView[]
}

/** So many rows are kept from one question to the next, some 300 bytes each. */
const MOST = 1_000_000

/** So many artifacts are read before other work gets its turn. */
const BREATH = 50

/**
 * The revisions of a family by date, each once, with what can be told of them without decoding them. Derived from the index and the commits
 * alone, in memory; what has moved since it was last asked for is read when it is asked for again.
 */
export class Timeline {
  readonly #index: ArtifactIndex
  readonly #family: Family
  readonly #most: number
  #views: ReadonlySet<ArtifactView> = new Set()
  #list: readonly ArtifactView[] = []
  #rows: readonly TimelineRow[] = []
  #turn: Promise<unknown> = Promise.resolve()

  /** Keeps up to `most` rows; of more than that all are read anew every time. */
  constructor(index: ArtifactIndex, family: Family, most = MOST) {
    this.#index = index
    this.#family = family
    this.#most = most
  }

  /** The rows as of now, the oldest first; see `isOlder`. The array does not change any more. */
  rows(): Promise<readonly TimelineRow[]> {
    const turn = this.#turn.then(async () => this.#rowsOf(await this.#index.list(this.#family)))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #rowsOf(list: readonly ArtifactView[]): Promise<readonly TimelineRow[]> {
    if (list === this.#list) return this.#rows
    const views = new Set(list)
    const gone = new Set([...this.#views].filter((view) => !views.has(view)))
    const known = new Map<Oid, ChainLink>()
    for (const { artifact, link } of gone.size > 0 ? this.#rows : []) {
      if (gone.has(artifact)) known.set(link.oid, link)
    }
    const rows = this.#rows.filter(({ artifact }) => !gone.has(artifact))
    let read = 0
    for (const view of list) {
      if (this.#views.has(view)) continue
      if (++read % BREATH === 0) await nextTurn()
      for (const row of await rowsIn(view, known)) rows.push(row)
    }
    rows.sort((a, b) => (isOlder(a, b) ? -1 : 1))
    if (rows.length > this.#most) {
      this.#keep([], new Set(), [])
      return rows
    }
    this.#keep(list, views, rows)
    return rows
  }

  #keep(list: readonly ArtifactView[], views: ReadonlySet<ArtifactView>, rows: readonly TimelineRow[]): void {
    this.#list = list
    this.#views = views
    this.#rows = rows
  }
}

/** Whether the one stands before the other: by date, of one second by version, then by id. */
export function isOlder(a: TimelinePlace, b: TimelinePlace): boolean {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds
  if (a.link.depth !== b.link.depth) return a.link.depth < b.link.depth
  return idIn(a) < idIn(b)
}

/** The id of the revision that stands there. */
export function idIn({ artifact, link }: TimelinePlace): string {
  return objectUuid(link.oid, artifact.digits)
}

/** The rows of an artifact; links that had to be read for them are known from then on. */
async function rowsIn(artifact: ArtifactView, known: Map<Oid, ChainLink>): Promise<Iterable<TimelineRow>> {
  const rows = new Map<ChainLink, TimelineRow & { readonly holders: VariantView[] }>()
  for (const variant of artifact.variants) {
    let link = variant.head === undefined ? undefined : await linkOf(artifact, variant.head, known)
    for (; link; link = link.parent) {
      const row = rows.get(link)
      if (row) row.holders.push(variant)
      else rows.set(link, { artifact, link, seconds: link.seconds, holders: [variant] })
    }
  }
  return rows.values()
}

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
      text: ownCopy(decodeMessage(commit.message).message?.toLowerCase()),
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
