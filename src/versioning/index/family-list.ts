import { ArtifactList } from './artifact-list.ts'
import type { IndexEntry } from './index-entry.ts'
import { entriesByCreation } from './index-entry.ts'

/** How stale a project-wide query may be towards plain git, in milliseconds. */
export const STALE = 2000

/** With more artifacts than so many nobody waits for a sweep that the first one is behind: lists show what the last one found. */
export const MANY = 10_000

/** The artifacts of one family in order of creation, and when its folder was last looked through. */
export class FamilyList {
  readonly #sweepOnce: (isUrgent: () => boolean) => Promise<void>
  #entries: IndexEntry[] = []
  /** Of these, what has gone since the last list was made: when very many go at once, each is not looked for by itself. */
  readonly #gone = new Set<IndexEntry>()
  /** Whether a list goes over the array, which stays as it is then. */
  #isShared = false
  /** What was last answered, and whether it would be again. */
  #artifacts = new ArtifactList([])
  #isCurrent = true
  #sweep: Promise<void> | undefined
  #swept = Number.NEGATIVE_INFINITY
  #asked = Number.NEGATIVE_INFINITY
  /** How many wait for a sweep. */
  #waiting = 0

  /** `sweepOnce` looks at every repository of the family, slowly as long as it is not urgent. */
  constructor(sweepOnce: (isUrgent: () => boolean) => Promise<void>) {
    this.#sweepOnce = sweepOnce
  }

  /** The artifacts, oldest first; the same object as long as nothing changed. */
  get artifacts(): ArtifactList {
    if (this.#isCurrent) return this.#artifacts
    this.#forgetGone()
    if (!isInOrder(this.#entries)) this.#replace(this.#entries.toSorted(entriesByCreation))
    this.#artifacts = new ArtifactList(this.#entries)
    this.#isShared = true
    this.#isCurrent = true
    return this.#artifacts
  }

  #forgetGone(): void {
    if (this.#gone.size > 0) this.#replace(this.#entries.filter((it) => !this.#gone.has(it)))
    this.#gone.clear()
  }

  #replace(entries: IndexEntry[]): void {
    this.#entries = entries
    this.#isShared = false
  }

  add(entry: IndexEntry): void {
    if (this.#isShared) this.#replace([...this.#entries])
    this.#entries.push(entry)
    this.#isCurrent = false
  }

  /** To be called when an entry got another view. */
  changed(): void {
    this.#isCurrent = false
  }

  remove(entry: IndexEntry): void {
    this.#gone.add(entry)
    this.#isCurrent = false
    // Where nobody asks for a list, they are not kept for ever.
    if (this.#gone.size * 2 > this.#entries.length) this.#forgetGone()
  }

  /** Milliseconds since somebody asked for a list that had to be fresh. */
  get unasked(): number {
    return performance.now() - this.#asked
  }

  /** How old a list may be, in milliseconds, where that is more than STALE; else 0. */
  get age(): number {
    const age = this.#isLarge && this.hasBegun ? performance.now() - this.#swept : 0
    return age > STALE ? age : 0
  }

  /**
   * Resolves once the family was looked through by a sweep that began no longer ago than `age` milliseconds: 0 is after this call. Of very
   * many artifacts, only by any.
   */
  async fresh(age: number): Promise<void> {
    const now = performance.now()
    if (age > 0) this.#asked = now
    if (age > 0 && this.#isLarge) return this.begun()
    await this.#until(() => this.#swept >= now - age)
  }

  /** Looks the family through while nobody waits for that: one of very many artifacts a little at a time. */
  sweepAtRest(): Promise<void> {
    return (this.#sweep ??= this.#sweepNow())
  }

  get #isLarge(): boolean {
    return this.#entries.length - this.#gone.size > MANY
  }

  /** Whether the family was looked through at all. */
  get hasBegun(): boolean {
    return this.#swept > Number.NEGATIVE_INFINITY
  }

  /** Resolves once it was. */
  begun(): Promise<void> {
    return this.#until(() => this.hasBegun)
  }

  async #until(isDone: () => boolean): Promise<void> {
    this.#waiting++
    try {
      while (!isDone()) await this.sweepAtRest()
    } finally {
      this.#waiting--
    }
  }

  async #sweepNow(): Promise<void> {
    const started = performance.now()
    try {
      await this.#sweepOnce(() => this.#waiting > 0 || !this.#isLarge)
      this.#swept = started
    } finally {
      this.#sweep = undefined
    }
  }
}

function isInOrder(entries: readonly IndexEntry[]): boolean {
  return entries.every((entry, at) => {
    const last = entries[at - 1]
    return !last || entriesByCreation(last, entry) < 0
  })
}
