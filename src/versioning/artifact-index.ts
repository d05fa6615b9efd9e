import { setImmediate as nextTurn } from 'node:timers/promises'
import { Refusal } from '../errors.ts'
import { ChangeLog } from '../git/change-log.ts'
import { assertServable } from '../git/repository-format.ts'
import type { Repository } from '../git/repository.ts'
import type { ProjectStore } from '../git/store.ts'
import { META_REF } from './artifact-state.ts'
import type { ArtifactView } from './artifact-view.ts'
import { viewArtifact } from './artifact-view.ts'
import type { RepositoryProblem } from './damaged-repositories.ts'
import { DamagedRepositories } from './damaged-repositories.ts'
import type { Family } from './family.ts'
import { FamilyList } from './family-list.ts'
import { repositoryDigits } from './ids.ts'
import type { IndexEntry } from './index-entry.ts'
import { isOriginal, pathOf } from './index-entry.ts'
import type { SlugLevel } from './slug-table.ts'
import { SlugTable } from './slug-table.ts'
import { slugProblem } from './slugs.ts'

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
  /** The families, and what is listed of each. */
  readonly #lists: ReadonlyMap<Family, FamilyList>
  readonly #changes: ChangeLog
  readonly #entries = new Map<string, IndexEntry>()
  readonly #byDigits = new Map<string, IndexEntry>()
  readonly #slugs = new SlugTable()
  readonly #damaged = new DamagedRepositories()
  /** The slugs that the last sweep of a family found. */
  readonly #swept = new Map<Family, readonly string[]>()
  readonly #watchers = new Set<(view: ArtifactView) => void>()
  #hearing: Promise<void> | undefined
  #moment = 0

  constructor(store: ProjectStore, families: readonly Family[], writer: string) {
    this.#store = store
    this.#lists = new Map(families.map((family) => [family, new FamilyList(() => this.#sweepOnce(family))]))
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
    return this.#damaged.problems()
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
      await this.sweep()
      entry = this.#byDigits.get(digits)
    }
    const view = entry && (await this.#current(entry))
    if (!view) this.#damaged.assertNotIn(({ last }) => last === undefined || last.digits === digits)
    return view
  }

  /**
   * The same, looked at once more. What named a revision of it may be younger than what requests of this turn saw of it: an
   * environment that another server has moved since.
   */
  async findAfresh(id: string): Promise<ArtifactView | undefined> {
    const entry = this.#byDigits.get(repositoryDigits(id))
    if (entry) await this.#look(entry.family, entry.slug)
    return this.findByDigits(id)
  }

  async findBySlug(family: Family, slug: string): Promise<ArtifactView | undefined> {
    if (slugProblem(slug) !== undefined) return undefined
    await this.#hear()
    const path = pathOf(family, slug)
    if (!this.#entries.has(path) && this.#store.exists(family.folder, slug)) await this.#look(family, slug)
    const entry = this.#entries.get(path)
    const view = entry && (await this.#current(entry))
    if (!view) this.#damaged.assertNotIn(({ repository }) => repository === path)
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
    return this.#slugs.has(level, family, slug)
  }

  /** Every artifact of the family, oldest first; at most two seconds behind plain git, never behind another server. */
  async list(family: Family): Promise<readonly ArtifactView[]> {
    await this.#hear()
    const list = this.#listOf(family)
    await list.fresh(STALE)
    return list.views()
  }

  /** Every artifact of the family as it was last looked at, oldest first. */
  seen(family: Family): readonly ArtifactView[] {
    return this.#listOf(family).views()
  }

  /** How long ago, in milliseconds, somebody last asked for the family's list. */
  unasked(family: Family): number {
    return this.#listOf(family).unasked
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

  /** Looks at every repository once, or at those of one family; calls that come while it runs share the next round. */
  async sweep(family?: Family): Promise<void> {
    for (const [it, list] of this.#lists) if (family === undefined || it === family) await list.fresh(0)
  }

  async #sweepOnce(family: Family): Promise<void> {
    const slugs = this.#store.slugs(family.folder)
    let looked = 0
    for (const slug of slugs) {
      if (!this.#isAsSeen(family, slug)) await this.#look(family, slug)
      if (++looked % BREATH === 0) await nextTurn()
    }
    if (slugs !== this.#swept.get(family)) this.#forgetOthers(family, new Set(slugs))
    this.#swept.set(family, slugs)
  }

  #forgetOthers(family: Family, seen: ReadonlySet<string>): void {
    for (const entry of this.#entries.values()) {
      // Not seen and there all the same: made while this sweep was under way.
      if (entry.family !== family || seen.has(entry.slug)) continue
      if (!this.#store.exists(family.folder, entry.slug)) this.#drop(entry)
    }
    for (const path of this.#damaged.paths()) {
      const isOurs = path.startsWith(`${family.folder}/`)
      if (isOurs && !seen.has(path.slice(family.folder.length + 1))) this.#damaged.forget(path)
    }
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
    if (news === 'everything') return this.sweep()
    for (const path of news) {
      const family = [...this.#lists.keys()].find((it) => path.startsWith(`${it.folder}/`))
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
    const found = await this.#currentOf(this.#slugs.get(level, family, slug), has)
    if (found.length > 0) return found
    await this.sweep(family)
    const later = await this.#currentOf(this.#slugs.get(level, family, slug), has)
    if (later.length === 0)
      this.#damaged.assertNotIn((it) => it.family === family && (it.last === undefined || has(it.last)))
    return later
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

  /** Whether nothing moved since the last look: most repositories of a sweep are not worth waiting for. */
  #isAsSeen(family: Family, slug: string): boolean {
    const entry = this.#entries.get(pathOf(family, slug))
    try {
      return entry !== undefined && entry.repository.freshRefs() === entry.view.source.refs
    } catch {
      return false // the look says what is wrong
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
        const last = entry?.view ?? this.#damaged.get(path)?.last
        // What no server ever made or wrote to waits to be adopted, and holds nothing that has an id.
        const repository = this.#store.repository(family.folder, slug)
        if (last || repository.wasWritten() || isArtifact(repository))
          this.#damaged.add({ repository: path, family, last, reason: error })
        else this.#damaged.setAside({ repository: path, reason: error.message })
      }
    }
  }

  #apply(path: string, family: Family, slug: string, repository: Repository, view: ArtifactView): void {
    const rival = this.#byDigits.get(view.digits)
    if (rival && rival.path !== path) {
      // A copy within the project (`cp -r`): the one whose folder has the name it was made with is the original.
      const [original, copy] = isOriginal(view, rival.view) ? [path, rival.path] : [rival.path, path]
      this.#damaged.setAside({
        repository: copy,
        reason: `${copy} has the same artifact id as ${original}. Give it a new id, or remove it.`,
      })
      if (copy === path) return
      this.#drop(rival)
    }
    this.#moment++
    this.#damaged.forget(path)
    const before = this.#entries.get(path)
    if (before) this.#slugs.remove(before)
    // Another artifact may have been put in its place.
    if (before && before.view.digits !== view.digits) this.#byDigits.delete(before.view.digits)
    const entry = before ?? { path, family, slug, repository, view }
    entry.view = view
    if (before) this.#listOf(family).changed()
    else this.#listOf(family).add(entry)
    this.#entries.set(path, entry)
    this.#byDigits.set(view.digits, entry)
    this.#slugs.add(entry)
    for (const watcher of this.#watchers) watcher(view)
  }

  #drop(entry: IndexEntry): void {
    this.#moment++
    this.#entries.delete(entry.path)
    if (this.#byDigits.get(entry.view.digits) === entry) this.#byDigits.delete(entry.view.digits)
    this.#slugs.remove(entry)
    this.#listOf(entry.family).remove(entry)
  }

  #listOf(family: Family): FamilyList {
    const list = this.#lists.get(family)
    if (!list) throw new Error(`the registry does not serve ${family.folder}`)
    return list
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
