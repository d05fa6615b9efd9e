import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
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
  /** The message as the client gave it, in lower case: what filters look into. Null if it is too long to be kept here. */
  readonly text: string | undefined | null
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

/** The rows that were asked for, the oldest first (see `isOlder`), and the artifacts whose commits cannot be read. */
export interface TimelineRows {
  readonly rows: readonly TimelineRow[]
  readonly unreadable: readonly { readonly artifact: ArtifactView; readonly reason: Refusal }[]
}

/** So many rows are kept from one question to the next, some 300 bytes each. */
const MOST = 1_000_000

/** A message of more characters is not kept: nothing else bounds them, and the commit has it. */
const LONG_TEXT = 1000

/** So many artifacts, or commits of one, are read before other work gets its turn. */
const BREATH = { artifacts: 50, commits: 200 }

/**
 * The revisions of a family by date, each once, with what can be told of them without decoding them. Derived from the index and the commits
 * alone, in memory; what has moved since it was last asked for is read when it is asked for again.
 */
export class Timeline {
  readonly #index: ArtifactIndex
  readonly #family: Family
  readonly #most: number
  /** By repository: the rows of its latest view that was asked for. */
  readonly #kept = new Map<string, KeptRows>()
  #count = 0
  /** All rows of these views, in order. */
  #list: readonly ArtifactView[] = []
  #all: readonly TimelineRow[] = []
  #turn: Promise<unknown> = Promise.resolve()

  /** Keeps up to `most` rows; the artifacts past them are read anew every time. */
  constructor(index: ArtifactIndex, family: Family, most = MOST) {
    this.#index = index
    this.#family = family
    this.#most = most
  }

  /** All rows as of now. The arrays do not change any more. */
  all(): Promise<TimelineRows> {
    const turn = this.#turn.then(async () => this.#allOf(await this.#index.list(this.#family)))
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** The rows of some artifacts. */
  async of(artifacts: readonly ArtifactView[]): Promise<TimelineRows> {
    const { rows, unreadable } = await this.#read(artifacts)
    return { rows: rows.sort(inOrder), unreadable }
  }

  async #allOf(list: readonly ArtifactView[]): Promise<TimelineRows> {
    if (list === this.#list) return { rows: this.#all, unreadable: [] }
    const [before, now] = [new Set(this.#list), new Set(list)]
    const { rows, unreadable } = await this.#read(list.filter((view) => !before.has(view)))
    for (const row of this.#all) if (now.has(row.artifact)) rows.push(row)
    rows.sort(inOrder)
    const isKept = rows.length <= this.#most && unreadable.length === 0
    this.#list = isKept ? list : []
    this.#all = isKept ? rows : []
    return { rows, unreadable }
  }

  async #read(artifacts: readonly ArtifactView[]): Promise<{ rows: TimelineRow[] } & TimelineRows> {
    const rows: TimelineRow[] = []
    const unreadable: { artifact: ArtifactView; reason: Refusal }[] = []
    let read = 0
    for (const artifact of artifacts) {
      if (++read % BREATH.artifacts === 0) await nextTurn()
      try {
        for (const row of await this.#rowsOf(artifact)) rows.push(row)
      } catch (reason) {
        if (!(reason instanceof Refusal)) throw reason
        unreadable.push({ artifact, reason })
      }
    }
    return { rows, unreadable }
  }

  async #rowsOf(artifact: ArtifactView): Promise<readonly TimelineRow[]> {
    const { path } = artifact.repository
    const kept = this.#kept.get(path)
    if (kept?.artifact === artifact) return kept.rows
    const known = new Map(kept?.rows.map(({ link }) => [link.oid, link]))
    const rows = await rowsIn(artifact, known)
    this.#count -= this.#kept.get(path)?.rows.length ?? 0
    this.#kept.delete(path)
    if (this.#count + rows.length <= this.#most) {
      this.#kept.set(path, { artifact, rows })
      this.#count += rows.length
    }
    return rows
  }
}

interface KeptRows {
  readonly artifact: ArtifactView
  readonly rows: readonly TimelineRow[]
}

function inOrder(a: TimelineRow, b: TimelineRow): number {
  return isOlder(a, b) ? -1 : 1
}

/** Whether the one stands before the other: by date, of one second by version, then by id. */
export function isOlder(a: TimelinePlace, b: TimelinePlace): boolean {
  if (a.seconds !== b.seconds) return a.seconds < b.seconds
  if (a.link.depth !== b.link.depth) return a.link.depth < b.link.depth
  // What ids are made of, in their order: making them to compare them would take nine tenths of putting many in order.
  if (a.link.oid !== b.link.oid) return a.link.oid < b.link.oid
  return a.artifact.digits < b.artifact.digits
}

/** The id of the revision that stands there. */
export function idIn({ artifact, link }: TimelinePlace): string {
  return objectUuid(link.oid, artifact.digits)
}

/** The rows of an artifact; links that had to be read for them are known from then on. */
async function rowsIn(artifact: ArtifactView, known: Map<Oid, ChainLink>): Promise<readonly TimelineRow[]> {
  const rows = new Map<ChainLink, TimelineRow & { readonly holders: VariantView[] }>()
  for (const variant of artifact.variants) {
    let link = variant.head === undefined ? undefined : await linkOf(artifact, variant.head, known)
    for (; link; link = link.parent) {
      const row = rows.get(link)
      if (row) row.holders.push(variant)
      else rows.set(link, { artifact, link, seconds: link.seconds, holders: [variant] })
    }
  }
  return [...rows.values()]
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
      text: textOf(decodeMessage(commit.message).message),
    })
    next = commit.parents[0]
    if (unknown.length % BREATH.commits === 0) await nextTurn()
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
