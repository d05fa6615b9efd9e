import type { Refusal } from '../../errors.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import type { Rows } from '../store/pagination.ts'
import type { RepositoryProblem } from './damaged-repositories.ts'
import type { ArtifactChange, RestoredArtifact, ViewCache } from './index-entry.ts'
import { entriesByCreation, IndexEntry, isOriginal, pathOf } from './index-entry.ts'
import { SlugTable } from './slug-table.ts'

/**
 * The index in memory: artifacts by path, id and slug, the lists of families, and the repositories that are not served. The start and every later
 * look fill it through `apply`.
 */
export class IndexTables {
  readonly slugs = new SlugTable()
  readonly damaged: UnservedRepositories
  readonly #lists: ReadonlyMap<Family, FamilyList>
  readonly #entries = new Map<string, IndexEntry>()
  readonly #byDigits = new Map<string, IndexEntry>()
  readonly #views: ViewCache
  readonly #watchers = new Set<(change: ArtifactChange) => void>()
  readonly #recorders = new Set<(view: ArtifactView) => void>()
  /** A number that changes with every change. */
  generation = 0

  /** `sweepOnce` looks at every repository of a family. */
  constructor(
    families: readonly Family[],
    sweepOnce: (family: Family, isUrgent: () => boolean) => Promise<void>,
    onProblem: ((problem: RepositoryProblem) => void) | undefined,
    views: ViewCache,
  ) {
    this.#views = views
    this.damaged = new UnservedRepositories(onProblem)
    this.#lists = new Map(
      families.map((family) => [family, new FamilyList((isUrgent) => sweepOnce(family, isUrgent))]),
    )
  }

  /** Whether each family was listed at least once. */
  get isComplete(): boolean {
    return [...this.#lists.values()].every(({ hasBegun }) => hasBegun)
  }

  /** The possible age of a list in milliseconds, if that is more than STALE; else 0. */
  get age(): number {
    return [...this.#lists.values()].reduce((oldest, { age }) => Math.max(oldest, age), 0)
  }

  get size(): number {
    return this.#entries.size
  }

  /** Calls `watcher` for every change, before the change returns. Answers a function that ends this. */
  watch(watcher: (change: ArtifactChange) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** The same for every view with a date that is only known here (see ArtifactView.isUnrecorded). */
  watchUnrecorded(recorder: (view: ArtifactView) => void): () => void {
    this.#recorders.add(recorder)
    return () => this.#recorders.delete(recorder)
  }

  /** The artifact at this path, `<family>/<slug>`. */
  at(path: string): IndexEntry | undefined {
    return this.#entries.get(path)
  }

  /** The artifact whose id ends in these 12 digits. */
  withDigits(digits: string): IndexEntry | undefined {
    return this.#byDigits.get(digits)
  }

  /** All artifacts, in no order. */
  entries(): Iterable<IndexEntry> {
    return this.#entries.values()
  }

  listOf(family: Family): FamilyList {
    const list = this.#lists.get(family)
    if (!list) throw new Error(`the registry does not serve ${family.folder}`)
    return list
  }

  /** Takes in the result of a look at a repository. If two have one artifact id, the copy is not served. */
  apply(view: ArtifactView): void {
    const { family, slug, id } = view
    const path = pathOf(family, slug)
    const rival = this.#byDigits.get(view.digits)
    if (rival && rival.path !== path && this.#isCopyOf(rival, view)) return
    this.generation++
    this.damaged.forget(path)
    const known = this.#entries.get(path)
    const before = known?.from
    if (known) {
      const isNamedAsBefore = known.isNamedLike(view)
      if (!isNamedAsBefore) this.#forgetNames(known)
      known.view = view
      if (!isNamedAsBefore) this.#takeNames(known)
      this.listOf(family).isCurrent = false
    } else this.#add(new IndexEntry(family, slug, view, this.#views))
    for (const watcher of this.#watchers) watcher({ family, slug, path, id, view, before })
    if (view.isUnrecorded) for (const recorder of this.#recorders) recorder(view)
  }

  /** Whether the repository of `view` is a copy (`cp -r`) of another one with the same artifact id. A copy is not served. */
  #isCopyOf(rival: IndexEntry, view: ArtifactView): boolean {
    const { fs, path: gitdir } = rival.view.repository
    // If the other one is gone, it was renamed.
    const isThere = fs.stat(gitdir) !== undefined
    const isCopy = isThere && !isOriginal(view, rival.view)
    if (!isCopy) this.drop(rival)
    const path = pathOf(view.family, view.slug)
    const [original, copy] = isCopy ? [rival.path, path] : [path, rival.path]
    const reason = `${copy} has the same artifact id as ${original}. Give it a new id, or remove it.`
    if (isThere) this.damaged.setAside({ repository: copy, reason })
    return isCopy
  }

  /** Takes in what an earlier process saved of a repository that was not looked at yet, unless another one has the same id. */
  restore(family: Family, slug: string, artifact: RestoredArtifact): void {
    const entry = new IndexEntry(family, slug, artifact, this.#views)
    if (!this.#byDigits.has(entry.digits)) this.#add(entry)
  }

  #add(entry: IndexEntry): void {
    this.listOf(entry.family).add(entry)
    this.#entries.set(entry.path, entry)
    this.#takeNames(entry)
  }

  #takeNames(entry: IndexEntry): void {
    this.#byDigits.set(entry.digits, entry)
    this.slugs.add(entry)
  }

  #forgetNames(entry: IndexEntry): void {
    if (this.#byDigits.get(entry.digits) === entry) this.#byDigits.delete(entry.digits)
    this.slugs.remove(entry)
  }

  /** Forgets an artifact that is gone, or unreadable. */
  drop(entry: IndexEntry): void {
    this.generation++
    this.damaged.forget(entry.path)
    this.#entries.delete(entry.path)
    this.#views.delete(entry)
    this.#forgetNames(entry)
    this.listOf(entry.family).remove(entry)
    const { family, slug, path, id, from: before } = entry
    for (const watcher of this.#watchers) watcher({ family, slug, path, id, view: undefined, before })
  }
}

/** A repository of this registry that cannot be read now. */
export interface UnservedRepository {
  readonly repository: string
  readonly family: Family
  /** Its state when it could be read; undefined if that was in another process. */
  readonly last: ArtifactView | undefined
  readonly reason: Refusal
}

/**
 * The repositories of a project that are not served. An unreadable repository may contain what a request looks for, so such a request is never
 * answered with "not found".
 */
export class UnservedRepositories {
  readonly #problems = new Map<string, RepositoryProblem>()
  readonly #damaged = new Map<string, UnservedRepository>()
  /** Repositories that are served, but missing in those lists for which a part of them cannot be read. */
  readonly #leftOut = new Map<string, RepositoryProblem>()
  readonly #onProblem: (problem: RepositoryProblem) => void

  /** `onProblem` is called for each new repository, and each new reason. */
  constructor(onProblem: (problem: RepositoryProblem) => void = () => undefined) {
    this.#onProblem = onProblem
  }

  /** All repositories that are not served, or missing in lists. */
  problems(): RepositoryProblem[] {
    const leftOut = [...this.#leftOut.values()].filter(({ repository }) => !this.#problems.has(repository))
    return [...this.#problems.values(), ...leftOut]
  }

  /** The repositories (`<family>/<slug>`) that are not served. */
  paths(): Iterable<string> {
    return this.#problems.keys()
  }

  /** What is known of one that cannot be read. */
  get(repository: string): UnservedRepository | undefined {
    return this.#damaged.get(repository)
  }

  /** A repository that is not served, and contains nothing with an id of this registry. */
  setAside(problem: RepositoryProblem): void {
    this.#note(this.#problems, problem)
  }

  /** A repository that is served, and has an unreadable part. */
  leaveOut(problem: RepositoryProblem): void {
    this.#note(this.#leftOut, problem)
  }

  /** One that cannot be read. */
  add(damaged: UnservedRepository): void {
    this.setAside({ repository: damaged.repository, reason: damaged.reason.message })
    this.#damaged.set(damaged.repository, damaged)
  }

  /** A repository that is served again, or is gone. */
  forget(repository: string): void {
    this.#problems.delete(repository)
    this.#damaged.delete(repository)
    this.#leftOut.delete(repository)
  }

  /** Refuses with `damaged_repository` if the missing thing may be in an unreadable repository. */
  assertNotIn(mayHold: (damaged: UnservedRepository) => boolean): void {
    for (const damaged of this.#damaged.values()) if (mayHold(damaged)) throw damaged.reason
  }

  #note(problems: Map<string, RepositoryProblem>, problem: RepositoryProblem): void {
    const isKnown = problems.get(problem.repository)?.reason === problem.reason
    problems.set(problem.repository, problem)
    if (!isKnown) this.#onProblem(problem)
  }
}

/** The maximum age of a project-wide query's data towards changes by plain git, in milliseconds. */
export const STALE = 2000

/** With more artifacts than this, requests do not wait for a sweep, except the first one: lists show the result of the last sweep. */
export const MANY = 10_000

/** The artifacts of one family in order of creation, and the time of the last look at its folder. */
export class FamilyList {
  readonly #sweepOnce: (isUrgent: () => boolean) => Promise<void>
  #entries: IndexEntry[] = []
  /** The artifacts that have gone since the last list was made. They are removed together, because very many may go at once. */
  readonly #gone = new Set<IndexEntry>()
  /** Whether a running list uses the array, which must not change then. */
  #isShared = false
  /** What was last answered, and whether it would be again: not once an entry has got another view. */
  #artifacts = new ArtifactList([])
  isCurrent = true
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
    if (this.isCurrent) return this.#artifacts
    this.#forgetGone()
    if (!isInOrder(this.#entries)) this.#replace(this.#entries.toSorted(entriesByCreation))
    this.#artifacts = new ArtifactList(this.#entries)
    this.#isShared = true
    this.isCurrent = true
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
    this.isCurrent = false
  }

  remove(entry: IndexEntry): void {
    this.#gone.add(entry)
    this.isCurrent = false
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

/** What lists show of an artifact. Its view is made when it is asked for, its record only read. */
export type ListedArtifact = Pick<
  IndexEntry,
  'family' | 'slug' | 'id' | 'createdAt' | 'record' | 'mayHold' | 'mayHaveRef' | 'view'
>

/** Artifacts in order of creation. Of very many most are only passed by, so each view is made when it is asked for. */
export class ArtifactList implements Iterable<ArtifactView> {
  readonly #entries: readonly ListedArtifact[]
  /** The same artifacts without their views, each as it is when it is asked. */
  readonly rows: Rows<ListedArtifact>

  /** The entries never change places. */
  constructor(entries: readonly ListedArtifact[]) {
    this.#entries = entries
    this.rows = entries
  }

  get length(): number {
    return this.#entries.length
  }

  at(index: number): ArtifactView | undefined {
    return this.#entries[index]?.view
  }

  /** The slugs of all, whose views are not made for that. */
  *slugs(): Generator<string, void, undefined> {
    for (const { slug } of this.#entries) yield slug
  }

  *[Symbol.iterator](): Generator<ArtifactView, void, undefined> {
    for (const { view } of this.#entries) yield view
  }
}
