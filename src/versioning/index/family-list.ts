import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { IndexEntry } from './index-entry.ts'
import { entriesByCreation } from './index-entry.ts'

/** The artifacts of one family in order of creation, and when its folder was last looked through. */
export class FamilyList {
  readonly #sweepOnce: () => Promise<void>
  #entries: IndexEntry[] = []
  /** What was last answered, and whether it would be again. */
  #views: readonly ArtifactView[] = []
  #isCurrent = true
  #sweep: Promise<void> | undefined
  #swept = Number.NEGATIVE_INFINITY
  #asked = Number.NEGATIVE_INFINITY

  /** `sweepOnce` looks at every repository of the family. */
  constructor(sweepOnce: () => Promise<void>) {
    this.#sweepOnce = sweepOnce
  }

  /** The views, oldest first. */
  views(): readonly ArtifactView[] {
    if (this.#isCurrent) return this.#views
    let views = this.#entries.map(({ view }) => view)
    if (!isInOrder(this.#entries, views, this.#views)) {
      this.#entries.sort(entriesByCreation)
      views = this.#entries.map(({ view }) => view)
    }
    this.#views = views
    this.#isCurrent = true
    return views
  }

  /** Makes the views of those that nobody asked for since the start, in slices: all at once would hold up every other request. */
  async open(): Promise<void> {
    if (!this.#isCurrent) await new TimeSlice().each(this.#entries, (entry) => void entry.view)
  }

  add(entry: IndexEntry): void {
    this.#entries.push(entry)
    this.#isCurrent = false
  }

  /** To be called when an entry got another view. */
  changed(): void {
    this.#isCurrent = false
  }

  remove(entry: IndexEntry): void {
    this.#entries = this.#entries.filter((it) => it !== entry)
    this.#isCurrent = false
  }

  /** Milliseconds since somebody asked for a list that had to be fresh. */
  get unasked(): number {
    return performance.now() - this.#asked
  }

  /** Resolves once the family was looked through by a sweep that began no longer ago than `age` milliseconds: 0 is after this call. */
  async fresh(age: number): Promise<void> {
    const now = performance.now()
    if (age > 0) this.#asked = now
    while (this.#swept < now - age) await (this.#sweep ??= this.#sweepNow())
  }

  /** Whether the family was looked through at all. */
  get hasBegun(): boolean {
    return this.#swept > Number.NEGATIVE_INFINITY
  }

  /** Resolves once it was. */
  async begun(): Promise<void> {
    if (!this.hasBegun) await (this.#sweep ?? this.fresh(0))
  }

  async #sweepNow(): Promise<void> {
    const started = performance.now()
    try {
      await this.#sweepOnce()
      this.#swept = started
    } finally {
      this.#sweep = undefined
    }
  }
}

/** Whether they are in order. Two that stood side by side in `before`, where all were, are not compared: of very many most did. */
function isInOrder(
  entries: readonly IndexEntry[],
  views: readonly ArtifactView[],
  before: readonly ArtifactView[],
): boolean {
  return entries.every((entry, at) => {
    const last = entries[at - 1]
    if (!last || (views[at - 1] === before[at - 1] && views[at] === before[at])) return true
    return entriesByCreation(last, entry) < 0
  })
}
