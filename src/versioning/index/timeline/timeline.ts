import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Refusal } from '../../../errors.ts'
import { atRest } from '../../../scheduling/cooperative.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import type { Family } from '../../family/family.ts'
import type { ArtifactIndex } from '../artifact-index.ts'
import { damageOf } from '../damage-of.ts'
import { viewsByCreation } from '../index-entry.ts'
import type { CommitFacts } from './commit-facts.ts'
import type { KnownFacts } from './known-facts.ts'
import { replaceRows } from './replace-rows.ts'
import { rowsOf } from './rows-of.ts'
import type { TimelineRow } from './timeline-row.ts'

/** The rows that were asked for, the oldest first (see `isOlder`), and the artifacts whose commits cannot be read. */
export interface TimelineRows {
  readonly rows: readonly TimelineRow[]
  readonly unreadable: readonly UnreadableArtifact[]
}

interface UnreadableArtifact {
  readonly artifact: ArtifactView
  readonly reason: Refusal
}

/** So many rows are kept from one question to the next, some 400 bytes each. */
const MOST = 1_000_000

/** So many are read before anybody asks. */
const MOST_UNASKED = 250_000

/** So many artifacts are read before other work gets its turn. */
const BREATH = 50

/**
 * The revisions of a family by date, each once, with what can be told of them without decoding them. Derived from the index and the commits
 * alone, in memory; what has moved since it was last asked for is read when it is asked for again.
 */
export class Timeline {
  readonly #index: ArtifactIndex
  readonly #family: Family
  readonly #facts: KnownFacts
  readonly #most: number
  /** By repository: the rows of its latest view that was asked for. */
  readonly #kept = new Map<string, KeptRows>()
  #count = 0
  /** What was taken in: the views, in order of creation, and beside each its rows. */
  #taken: Taken = { views: [], parts: [] }
  /** All rows of these, in order. */
  #rows: readonly TimelineRow[] = []
  #wasAsked = false
  /** How many artifacts were read. */
  #read = 0
  #turn: Promise<unknown> = Promise.resolve()

  /** Keeps up to `most` rows; the artifacts past them are looked at anew every time. */
  constructor(index: ArtifactIndex, family: Family, facts: KnownFacts, most = MOST) {
    this.#index = index
    this.#family = family
    this.#facts = facts
    this.#most = most
  }

  /** All rows as of now. The arrays do not change any more. */
  all(): Promise<TimelineRows> {
    this.#wasAsked = true
    return this.#inTurn(async () => this.#takeIn(await this.#index.list(this.#family)))
  }

  /** The rows of some artifacts. */
  async of(artifacts: readonly ArtifactView[]): Promise<TimelineRows> {
    const unreadable: UnreadableArtifact[] = []
    const found: KeptRows[] = []
    for (const artifact of artifacts) {
      const kept = await this.#rowsOf(artifact, unreadable)
      if (kept) found.push(kept)
    }
    return { rows: replaceRows([], [], found.flatMap(rowsIn)), unreadable }
  }

  /**
   * Looks at the artifacts before anybody asks, at rest, so that whoever does waits for the remaining ones only. Ends then, and where there
   * are too many rows. What was read for it, or for who asked, is kept in a file for the next server. Rejects once `stop` comes.
   */
  async fill(stop: AbortSignal): Promise<void> {
    const list = this.#index.seen(this.#family)
    const isOver = (): boolean => this.#wasAsked || this.#count > MOST_UNASKED
    this.#facts.load()
    try {
      await atRest(list, stop, (artifact) => this.#inTurn(async () => isOver() || this.#rowsOf(artifact, [])))
      await this.#inTurn(async () => isOver() || this.#takeIn(list))
    } finally {
      this.#facts.release()
    }
    const rows = this.#rows
    if (this.#isWorthKeeping) await this.#facts.writeAtRest(factsIn(rows), rows.length, stop)
  }

  /** Keeps in a file what was read since `fill`: for a server that ends. */
  keep(): void {
    if (this.#isWorthKeeping) this.#facts.write(factsIn(this.#rows), this.#rows.length)
  }

  /** Not where there are no rows because there are too many, or because nobody asked: the file may have them. */
  get #isWorthKeeping(): boolean {
    return this.#rows.length > 0 && this.#facts.isWorthWriting
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Makes the rows those of this list. */
  async #takeIn(list: readonly ArtifactView[]): Promise<TimelineRows> {
    if (list === this.#taken.views) return { rows: this.#rows, unreadable: [] }
    const { parts, moved, leaving } = compare(this.#taken, list)
    const unreadable: UnreadableArtifact[] = []
    const coming: KeptRows[] = []
    this.#facts.load()
    for (const number of moved) {
      const kept = await this.#rowsOf(list[number]!, unreadable) // a place of the list
      parts[number] = kept
      if (kept) coming.push(kept)
    }
    for (const kept of leaving) this.#forget(kept)
    const rows = replaceRows(this.#rows, leaving.flatMap(rowsIn), coming.flatMap(rowsIn))
    const isKept = rows.length <= this.#most
    // Where something could not be read, the same list is looked at again.
    const views = unreadable.length === 0 ? list : [...list]
    this.#taken = isKept ? { views, parts } : { views: [], parts: [] }
    this.#rows = isKept ? rows : []
    this.#facts.forget()
    return { rows, unreadable }
  }

  /** The rows of the artifact; undefined, and a note of why, if its commits cannot be read. */
  async #rowsOf(artifact: ArtifactView, unreadable: UnreadableArtifact[]): Promise<KeptRows | undefined> {
    const before = this.#kept.get(artifact.repository.path)
    if (before?.artifact === artifact) return before
    if (++this.#read % BREATH === 0) await nextTurn()
    try {
      const kept = { artifact, rows: await rowsOf(artifact, this.#facts, before?.rows) }
      this.#keep(kept)
      return kept
    } catch (error) {
      const reason = damageOf(error, artifact.repository.path)
      if (!reason) throw error
      unreadable.push({ artifact, reason })
      return undefined
    }
  }

  #keep(kept: KeptRows): void {
    const { path } = kept.artifact.repository
    const before = this.#kept.get(path)
    if (before) this.#forget(before)
    if (this.#count + kept.rows.length > this.#most) return
    this.#kept.set(path, kept)
    this.#count += kept.rows.length
  }

  #forget(kept: KeptRows): void {
    const { path } = kept.artifact.repository
    if (this.#kept.get(path) !== kept) return
    this.#kept.delete(path)
    this.#count -= kept.rows.length
  }
}

interface KeptRows {
  readonly artifact: ArtifactView
  readonly rows: readonly TimelineRow[]
}

interface Taken {
  readonly views: readonly ArtifactView[]
  /** Undefined of those that could not be read. */
  readonly parts: readonly (KeptRows | undefined)[]
}

/** What a list has of what was taken in, in the list's places; the places of what is to be read; and what leaves. */
interface Comparison {
  readonly parts: (KeptRows | undefined)[]
  readonly moved: readonly number[]
  readonly leaving: readonly KeptRows[]
}

/** Compares in one pass, both being in order of creation. Where one were not, more would leave and come back. */
function compare(before: Taken, list: readonly ArtifactView[]): Comparison {
  const parts: (KeptRows | undefined)[] = []
  const moved: number[] = []
  const leaving: (KeptRows | undefined)[] = []
  let at = 0
  for (const view of list) {
    for (; isGone(before.views[at], view); at++) leaving.push(before.parts[at])
    const part = before.views[at] === view ? before.parts[at++] : undefined
    if (!part) moved.push(parts.length)
    parts.push(part)
  }
  const left = [...leaving, ...before.parts.slice(at)].filter((part) => part !== undefined)
  return { parts, moved, leaving: left }
}

/** Whether a view is none of a list that goes on with `next`, as far as its order tells. */
function isGone(view: ArtifactView | undefined, next: ArtifactView): boolean {
  return view !== undefined && view !== next && viewsByCreation(next, view) > 0
}

function rowsIn({ rows }: KeptRows): readonly TimelineRow[] {
  return rows
}

function* factsIn(rows: readonly TimelineRow[]): Generator<CommitFacts> {
  for (const { link } of rows) yield { ...link, parent: link.parent?.oid }
}
