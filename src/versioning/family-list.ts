import type { ArtifactView } from './artifact-view.ts'
import type { IndexEntry } from './index-entry.ts'
import { byCreation } from './index-entry.ts'

/** The artifacts of one family in order of creation, and when its folder was last looked through. */
export class FamilyList {
  readonly #sweepOnce: () => Promise<void>
  #entries: IndexEntry[] = []
  #isSorted = true
  #views: readonly ArtifactView[] | undefined
  #sweep: Promise<void> | undefined
  #swept = Number.NEGATIVE_INFINITY
  #asked = Number.NEGATIVE_INFINITY

  /** `sweepOnce` looks at every repository of the family. */
  constructor(sweepOnce: () => Promise<void>) {
    this.#sweepOnce = sweepOnce
  }

  /** The views, oldest first. */
  views(): readonly ArtifactView[] {
    // What was added stands at the end, so there is next to nothing to sort.
    if (!this.#isSorted) this.#entries.sort(byCreation)
    this.#isSorted = true
    return (this.#views ??= this.#entries.map(({ view }) => view))
  }

  add(entry: IndexEntry): void {
    this.#entries.push(entry)
    this.changed()
  }

  /** To be called when an entry got another view. */
  changed(): void {
    this.#isSorted = false
    this.#views = undefined
  }

  remove(entry: IndexEntry): void {
    this.#entries = this.#entries.filter((it) => it !== entry)
    this.#views = undefined
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
