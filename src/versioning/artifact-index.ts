import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { ChangeLog } from '../git/change-log.ts'
import { assertServable } from '../git/repository-format.ts'
import type { Repository } from '../git/repository.ts'
import type { ProjectStore } from '../git/store.ts'
import { META_REF } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { viewArtifact } from './artifact-view.ts'
import type { Family } from './family.ts'
import { repositoryDigits } from './ids.ts'
import type { IndexEntry } from './index-entry.ts'
import { byCreation, isOriginal, pathOf } from './index-entry.ts'
import type { SlugLevel } from './slug-table.ts'
import { SlugTable } from './slug-table.ts'
import { numberedBase, slugProblem } from './slugs.ts'

/** A repository that is in the store and not served, and why. */
export interface RepositoryProblem {
  readonly repository: string
  readonly reason: string
}

/** A repository of this registry's making that cannot be read now. */
interface DamagedRepository {
  readonly repository: string
  readonly family: Family
  /** As it was when it could be read; undefined if that was in another process. */
  readonly last: ArtifactView | undefined
  readonly reason: Refusal
}

/** How stale a project-wide query may be towards plain git, in milliseconds (design section 4). */
const STALE = 2000
/** So many repositories are looked at before other work gets its turn. */
const BREATH = 100

/**
 * Finds artifacts by id and slug and lists them: one small record an artifact, derived from the repositories alone. It
 * is filled by the same `#apply` at start and while serving, so a live index equals a rebuilt one. What it answers by
 * id or slug is checked against the disk first.
 */
export class ArtifactIndex {
  readonly #store: ProjectStore
  readonly #families: readonly Family[]
  readonly #changes: ChangeLog
  readonly #entries = new Map<string, IndexEntry>()
  readonly #byDigits = new Map<string, IndexEntry>()
  readonly #slugs = new SlugTable<IndexEntry>()
  readonly #problems = new Map<string, RepositoryProblem>()
  /** What cannot be read: it may hold what is looked for, so nobody is told that this is not there. */
  readonly #damaged = new Map<string, DamagedRepository>()
  readonly #ordered = new Map<string, readonly IndexEntry[]>()
  readonly #watchers = new Set<(view: ArtifactView) => void>()
  #sweep: Promise<void> | undefined
  #swept = 0
  #hearing: Promise<void> | undefined
  #moment = 0

  constructor(store: ProjectStore, families: readonly Family[], writer: string) {
    this.#store = store
    this.#families = families
    this.#changes = new ChangeLog(store.fs, store.folder, writer)
  }

  /**
   * Calls `watcher` with every new view of an artifact, whoever moved it: a write of ours, another server, or plain git. It is called
   * within the write, so it must only take note. Answers how to end that.
   */
  watch(watcher: (view: ArtifactView) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Reads every repository of the project. */
  async load(): Promise<void> {
    this.#changes.news()
    await this.sweep()
  }

  /** Repositories that are not served, with the reason. */
  problems(): RepositoryProblem[] {
    return [...this.#problems.values()]
  }

  /** Whether an artifact has the digits in which this id ends. */
  hasDigits(id: string): boolean {
    return this.#byDigits.has(repositoryDigits(id))
  }

  get size(): number {
    return this.#entries.size
  }

  /** A number that is another one after anything the index knows has changed. */
  get moment(): number {
    return this.#moment
  }

  /**
   * Whether everything is as it was at `moment`, looked at as every other question is: then what was found for a question that
   * led to this view would be found again.
   */
  isStill(moment: number, view: ArtifactView): boolean {
    return (
      this.#hear() === undefined && this.#moment === moment && view.repository.refs() === view.source.refs
    )
  }

  /** The artifact whose id ends in the same digits as `id`, as it is on disk now. */
  async findByDigits(id: string): Promise<ArtifactView | undefined> {
    await this.#hear()
    const digits = repositoryDigits(id)
    let entry = this.#byDigits.get(digits)
    if (!entry) {
      await this.#sweepAgain()
      entry = this.#byDigits.get(digits)
    }
    const view = entry && (await this.#current(entry))
    if (!view) this.#assertNotIn(({ last }) => last === undefined || last.digits === digits)
    return view
  }

  async findBySlug(family: Family, slug: string): Promise<ArtifactView | undefined> {
    if (slugProblem(slug) !== undefined) return undefined
    await this.#hear()
    const path = pathOf(family, slug)
    if (!this.#entries.has(path) && this.#store.exists(family.folder, slug)) await this.#look(family, slug)
    const entry = this.#entries.get(path)
    const view = entry && (await this.#current(entry))
    if (!view) this.#assertNotIn(({ repository }) => repository === path)
    return view
  }

  /** The artifacts of the family that have a variant of this slug; several only where plain git brought it. */
  findByVariantSlug(family: Family, slug: string): Promise<ArtifactView[]> {
    return this.#findBySlugOf('variant', family, slug, (view) => view.variants.some((it) => it.slug === slug))
  }

  /** The artifacts of the family in which some revision was given this slug. */
  findByTag(family: Family, slug: string): Promise<ArtifactView[]> {
    return this.#findBySlugOf('tag', family, slug, (view) => view.tags.has(slug))
  }

  /** Whether a slug is taken at a level, compared without case. Only sure while claiming slugs (see ProjectStore). */
  async isTaken(level: SlugLevel, family: Family, slug: string): Promise<boolean> {
    // Afresh: another process may have claimed a slug and let go of the lock since the requests of this turn came in.
    await this.#hear(this.#changes.freshNews())
    return this.#slugs.has(level, family.folder, slug)
  }

  /** Every artifact of the family, oldest first; at most two seconds behind plain git, never behind another server. */
  async list(family: Family): Promise<readonly ArtifactView[]> {
    await this.#hear()
    if (Date.now() - this.#swept > STALE) await this.sweep()
    let ordered = this.#ordered.get(family.folder)
    if (!ordered) {
      ordered = [...this.#entries.values()].filter((entry) => entry.family === family).sort(byCreation)
      this.#ordered.set(family.folder, ordered)
    }
    return ordered.map((entry) => entry.view)
  }

  /** Takes in what this process just wrote to a repository, and tells the other processes. */
  async written(family: Family, slug: string): Promise<ArtifactView> {
    this.#changes.announce(pathOf(family, slug))
    const known = this.#entries.get(pathOf(family, slug))
    if (known) await this.#takeInOwn(known)
    else await this.#look(family, slug)
    const entry = this.#entries.get(pathOf(family, slug))
    if (!entry) throw new Refusal('artifact_not_found', `${pathOf(family, slug)} vanished from the store.`)
    return entry.view
  }

  /** Looks at every repository once; calls that come while it runs share the next round. */
  async sweep(): Promise<void> {
    const started = Date.now()
    const seen = new Set<string>()
    let looked = 0
    for (const family of this.#families) {
      for (const slug of this.#store.slugs(family.folder)) {
        seen.add(pathOf(family, slug))
        await this.#look(family, slug)
        if (++looked % BREATH === 0) await nextTurn()
      }
    }
    for (const [path, entry] of this.#entries) {
      // Not seen and there all the same: made while this sweep was under way.
      if (!seen.has(path) && !this.#store.exists(entry.family.folder, entry.slug)) this.#drop(entry)
    }
    for (const path of this.#problems.keys()) if (!seen.has(path)) this.#forgetProblem(path)
    this.#swept = started
  }

  /** A sweep that began after this call. */
  async #sweepAgain(): Promise<void> {
    const running = this.#sweep
    if (running) await running
    this.#sweep ??= this.sweep().finally(() => {
      this.#sweep = undefined
    })
    await this.#sweep
  }

  /** Takes in what other processes wrote; also waits for what is being taken in already. */
  #hear(news = this.#changes.news()): Promise<void> | undefined {
    if (news !== 'everything' && news.size === 0) return this.#hearing
    const hearing = (this.#hearing ?? Promise.resolve())
      .then(() => this.#takeIn(news))
      .finally(() => {
        if (this.#hearing === hearing) this.#hearing = undefined
      })
    this.#hearing = hearing
    return hearing
  }

  async #takeIn(news: ReadonlySet<string> | 'everything'): Promise<void> {
    if (news === 'everything') return this.#sweepAgain()
    for (const path of news) {
      const family = this.#families.find((it) => path.startsWith(`${it.folder}/`))
      if (family) await this.#look(family, path.slice(family.folder.length + 1))
    }
  }

  async #findBySlugOf(
    level: 'variant' | 'tag',
    family: Family,
    slug: string,
    has: (view: ArtifactView) => boolean,
  ): Promise<ArtifactView[]> {
    await this.#hear()
    const found = await this.#currentOf(this.#slugs.get(level, family.folder, slug), has)
    if (found.length > 0) return found
    await this.#sweepAgain()
    const later = await this.#currentOf(this.#slugs.get(level, family.folder, slug), has)
    if (later.length === 0)
      this.#assertNotIn((it) => it.family === family && (it.last === undefined || has(it.last)))
    return later
  }

  /** Refuses with `damaged_repository` if what was not found may lie in a repository that cannot be read. */
  #assertNotIn(mayHold: (damaged: DamagedRepository) => boolean): void {
    for (const damaged of this.#damaged.values()) if (mayHold(damaged)) throw damaged.reason
  }

  async #currentOf(
    entries: readonly IndexEntry[],
    has: (view: ArtifactView) => boolean,
  ): Promise<ArtifactView[]> {
    const found: ArtifactView[] = []
    for (const entry of entries) {
      const view = await this.#current(entry)
      if (view && has(view)) found.push(view)
    }
    return found
  }

  /** The entry's view as of now; undefined if the repository is gone or no longer served. */
  async #current(entry: IndexEntry): Promise<ArtifactView | undefined> {
    if (entry.repository.refs() === entry.view.source.refs) return entry.view
    await this.#look(entry.family, entry.slug)
    return this.#entries.get(pathOf(entry.family, entry.slug))?.view
  }

  /** Takes in what this process wrote without looking at the disk again. */
  async #takeInOwn({ path, family, slug, repository, view: before }: IndexEntry): Promise<void> {
    let view = before
    for (let refs = repository.writtenRefs(); refs !== view.source.refs; refs = repository.writtenRefs()) {
      view = await viewArtifact(family, slug, repository, refs, view)
    }
    if (this.#entries.get(path)?.view.source.refs !== view.source.refs) {
      this.#apply(path, family, slug, repository, view)
    }
  }

  async #look(family: Family, slug: string): Promise<void> {
    const path = pathOf(family, slug)
    const entry = this.#entries.get(path)
    try {
      const repository = entry?.repository ?? this.#store.repository(family.folder, slug)
      if (entry && repository.freshRefs() === entry.view.source.refs) return
      if (!entry) await assertServable(this.#store.fs, repository.path)
      let view = await viewArtifact(family, slug, repository, repository.refs(), entry?.view)
      // Something moved while the view was made: an older view must never replace a newer one.
      for (let refs = repository.refs(); refs !== view.source.refs; refs = repository.refs()) {
        view = await viewArtifact(family, slug, repository, refs, view)
      }
      this.#apply(path, family, slug, repository, view)
    } catch (error) {
      if (!(error instanceof Refusal) || error.code !== 'damaged_repository') throw error
      if (entry) this.#drop(entry)
      if (this.#store.exists(family.folder, slug)) {
        this.#problems.set(path, { repository: path, reason: error.message })
        const last = entry?.view ?? this.#damaged.get(path)?.last
        // What no server ever made or wrote to waits to be adopted, and holds nothing that has an id.
        const repository = this.#store.repository(family.folder, slug)
        if (last || repository.wasWritten() || isArtifact(repository))
          this.#damaged.set(path, { repository: path, family, last, reason: error })
      }
    }
  }

  #forgetProblem(path: string): void {
    this.#problems.delete(path)
    this.#damaged.delete(path)
  }

  #apply(path: string, family: Family, slug: string, repository: Repository, view: ArtifactView): void {
    const rival = this.#byDigits.get(view.digits)
    if (rival && rival.path !== path) {
      // A copy within the project (`cp -r`): the one whose folder has the name it was made with is the original.
      const [original, copy] = isOriginal(view, rival.view) ? [path, rival.path] : [rival.path, path]
      this.#problems.set(copy, {
        repository: copy,
        reason: `${copy} has the same artifact id as ${original}. Give it a new id, or remove it.`,
      })
      if (copy === path) return
      this.#drop(rival)
    }
    this.#moment++
    this.#forgetProblem(path)
    const before = this.#entries.get(path)
    if (before) this.#slugs.remove(before)
    // Another artifact may have been put in its place.
    if (before && before.view.digits !== view.digits) this.#byDigits.delete(before.view.digits)
    if (!before || before.view.id !== view.id) this.#ordered.delete(family.folder)
    const entry = before ?? { path, family, slug, repository, view }
    entry.view = view
    this.#entries.set(path, entry)
    this.#byDigits.set(view.digits, entry)
    this.#slugs.add('artifact', family.folder, slug, entry)
    for (const variant of view.variants) this.#slugs.add('variant', family.folder, variant.slug, entry)
    for (const tag of view.tags.keys()) {
      this.#slugs.add('tag', family.folder, tag, entry)
      const base = numberedBase(tag)
      if (base !== undefined) this.#slugs.add('numbered', family.folder, base, entry)
    }
    for (const watcher of this.#watchers) watcher(view)
  }

  #drop(entry: IndexEntry): void {
    this.#moment++
    this.#entries.delete(entry.path)
    if (this.#byDigits.get(entry.view.digits) === entry) this.#byDigits.delete(entry.view.digits)
    this.#slugs.remove(entry)
    this.#ordered.delete(entry.family.folder)
  }
}

/** Whether the refs say that the registry made it, whatever else of it cannot be read. */
function isArtifact(repository: Repository): boolean {
  try {
    return repository.refs().refs.has(META_REF)
  } catch {
    return false
  }
}
