import { setTimeout as pause } from 'node:timers/promises'
import { yieldToEventLoop } from '../../base/scheduling.ts'
import { Refusal } from '../../errors.ts'
import { assertServable, type Repository, type ProjectStore } from '../../git/store.ts'
import type { SavedRefs } from '../../git/refs.ts'
import { ChangeFeed } from '../../storage/files.ts'
import { META_REF } from '../artifacts/artifact-record.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { viewArtifact } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { RevisionCache } from '../revisions/stored-revision.ts'
import { slugProblem } from '../slugs/slug.ts'
import { damageOf, type RepositoryProblem } from './damaged-repositories.ts'
import type { IndexEntry, RestoredArtifact, ViewCache } from './index-entry.ts'
import { pathOf, savedArtifact } from './index-entry.ts'
import { IndexTables, STALE } from './index-tables.ts'
import { claimedName } from './slug-table.ts'

const REPOSITORIES_BETWEEN_YIELDS = 100

/** A background sweep rests this many times as long as it works. */
const REST_FACTOR = 9

/**
 * Keeps the tables of an index current: it looks at repositories, one by one or family by family, reads what other processes announced, and is
 * told of own writes. An artifact found by id or slug is checked on the disk before it is used.
 */
export class IndexSync {
  readonly tables: IndexTables
  protected readonly store: ProjectStore
  protected readonly families: readonly Family[]
  readonly #revisions: (family: Family) => RevisionCache
  readonly #changes: ChangeFeed
  #hearing: Promise<void> | undefined
  /** Updates other artifacts after a write to an environment. */
  #follow: (environment: ArtifactView) => Promise<void> = async () => undefined

  /** `revisions` answers the decoded revisions of a family, which views carry. */
  constructor(
    store: ProjectStore,
    families: readonly Family[],
    revisions: (family: Family) => RevisionCache,
    writer: string,
    onProblem: ((problem: RepositoryProblem) => void) | undefined,
    views: ViewCache,
  ) {
    this.store = store
    this.families = families
    this.#revisions = revisions
    this.tables = new IndexTables(families, this.#sweepOnce.bind(this), onProblem, views)
    this.#changes = new ChangeFeed(store.fs, store.folder, writer)
  }

  /** Takes in the artifacts of a family that an earlier process saved. */
  protected restoreFamily(
    family: Family,
    rows: Iterable<{ readonly slug: string; readonly saved: string }>,
  ): void {
    // Earlier writes of other processes are in the repositories, which are looked at later.
    this.#changes.poll()
    for (const { slug, saved } of rows) {
      const artifact = this.#savedArtifact(family, slug, saved)
      if (artifact) this.tables.restore(family, slug, artifact)
    }
  }

  /** Notes that the index file has a view, as this text. */
  saved(view: ArtifactView, text: string): void {
    const { family, slug } = view
    const artifact = this.#savedArtifact(family, slug, text)
    if (artifact) this.tables.at(pathOf(family, slug))?.saved(view, artifact)
  }

  #savedArtifact(family: Family, slug: string, text: string): RestoredArtifact | undefined {
    const open = (refs: SavedRefs): Repository => this.store.repository(family.folder, slug, refs)
    return savedArtifact(this.#revisions(family), slug, text, open)
  }

  /** Looks at every repository of the project. */
  async load(): Promise<void> {
    this.#changes.poll()
    for (const family of this.families) await this.tables.listOf(family).begun()
  }

  /** Takes in the writes of other processes, and waits for those that are being taken in already. Undefined if there is nothing to wait for. */
  protected poll(): Promise<void> | undefined {
    return this.#hear(this.#changes.poll())
  }

  /** The same, even if another request of this turn has done it. */
  protected pollAfresh(): Promise<void> | undefined {
    return this.#hear(this.#changes.pollAfresh())
  }

  /** Takes in the writes of others in the background: of other servers at once, of plain git as often as for a list. */
  async heed(): Promise<void> {
    await this.pollAfresh()
    if (this.store.filling) return
    for (const family of this.families) await this.tables.listOf(family).fresh(STALE)
  }

  /** While the database is still being copied into the folder: gets the named repositories, and looks at them. False if all are here. */
  protected async bring(name: string): Promise<boolean> {
    const { filling } = this.store
    for (const { folder, slug } of (await filling?.bring(name)) ?? []) {
      const family = this.families.find((it) => it.folder === folder)
      if (family && this.store.exists(folder, slug)) await this.look(family, slug)
    }
    return filling !== undefined
  }

  /** Looks at every repository once, or at those of one family. Calls during a sweep share the next one. */
  async sweep(family?: Family): Promise<void> {
    for (const it of family ? [family] : this.families) await this.tables.listOf(it).fresh(0)
  }

  /** The artifact whose id ends in the same digits as `id`, as it is on the disk now. */
  async findByDigits(id: string): Promise<ArtifactView | undefined> {
    await this.poll()
    const digits = repositoryDigits(id)
    let entry = this.tables.withDigits(digits)
    if (!entry || (this.store.isCopy && this.store.isToCome(entry.family.folder, entry.slug)))
      entry = await this.#brought(digits)
    const view = entry && (await this.current(entry))
    if (!view) this.tables.damaged.assertNotIn(({ last }) => last === undefined || last.digits === digits)
    return view
  }

  async #brought(digits: string): Promise<IndexEntry | undefined> {
    if (!(await this.bring(`id/${digits}`))) await this.sweep()
    return this.tables.withDigits(digits)
  }

  /**
   * The same with a new look, because the reference to its revision, from an environment for example, may be newer than the last look of this
   * turn.
   */
  async findAfresh(id: string): Promise<ArtifactView | undefined> {
    const entry = this.tables.withDigits(repositoryDigits(id))
    if (entry) await this.look(entry.family, entry.slug)
    return this.findByDigits(id)
  }

  async findBySlug(family: Family, slug: string): Promise<ArtifactView | undefined> {
    const path = pathOf(family, slug)
    const known = this.tables.at(path)
    // A folder with an invalid name is listed, but not found by a slug.
    const isSlug = known?.isSlug ?? slugProblem(slug) === undefined
    if (known) known.isSlug = isSlug
    if (!isSlug) return undefined
    await this.poll()
    if (this.store.isCopy && this.store.isToCome(family.folder, slug))
      await this.bring(claimedName(family, 'artifact', slug))
    else if (!this.tables.at(path) && this.store.exists(family.folder, slug)) await this.look(family, slug)
    const entry = this.tables.at(path)
    const view = entry && (await this.current(entry))
    if (!view) this.tables.damaged.assertNotIn(({ repository }) => repository === path)
    return view
  }

  /** The last view of the artifact at a path, `<family>/<slug>`. */
  viewAt(path: string): ArtifactView | undefined {
    return this.tables.at(path)?.view
  }

  /** Takes in an own write to a repository, which may have been `made` by it, and tells the other processes. */
  async takeInOwn(family: Family, slug: string, made?: Repository): Promise<ArtifactView> {
    const path = pathOf(family, slug)
    this.#changes.publish(path)
    const before = this.tables.at(path)?.seen
    // Otherwise it was taken in already, or another object wrote it, whose view was dropped meanwhile.
    if (before && before.repository.refs.latest !== before.source.refs) {
      const { repository, revisions } = before
      let now = before
      // There is no need to look at the disk again.
      for (let refs = repository.refs.latest; refs !== now.source.refs; refs = repository.refs.latest)
        now = await viewArtifact(revisions, slug, repository, refs, now)
      if (this.tables.at(path)?.view.source.refs !== now.source.refs) this.tables.apply(now)
    } else await this.look(family, slug, made)
    const view = this.tables.at(path)?.view
    if (!view) throw new Refusal('artifact_not_found', `${path} vanished from the store.`)
    return view
  }

  /** The same, and updates other artifacts. */
  async written(family: Family, slug: string, made?: Repository): Promise<ArtifactView> {
    const view = await this.takeInOwn(family, slug, made)
    if (family.pins) await this.#follow(view)
    return view
  }

  /** Sets the update of other artifacts after each write to an environment; the write is answered after it. */
  onEnvironmentWritten(follow: (environment: ArtifactView) => Promise<void>): void {
    this.#follow = follow
  }

  /** Takes in that this process has moved a repository away, and tells the other processes. */
  async removed(family: Family, slug: string): Promise<void> {
    this.#changes.publish(pathOf(family, slug))
    await this.look(family, slug)
  }

  /** The current view of the entry; undefined if the repository is gone or not served any more. */
  protected async current(entry: IndexEntry): Promise<ArtifactView | undefined> {
    if (!entry.restored && isAsViewed(entry.view)) return entry.view
    await this.look(entry.family, entry.slug)
    return this.tables.at(entry.path)?.view
  }

  /** Looks at a repository and takes in its state, whatever it is: new, changed, gone, damaged. */
  async look(family: Family, slug: string, made?: Repository): Promise<void> {
    const path = pathOf(family, slug)
    const known = this.tables.at(path)
    // After a change the saved facts are useless, so it is looked at like a new repository.
    const entry = known?.restored && !this.#isStill(known, known.restored) ? undefined : known
    try {
      const repository = entry?.view.repository ?? made ?? this.store.repository(family.folder, slug)
      if (entry && repository.refs.snapshot() === entry.view.source.refs) return
      if (!entry && !made) await assertServable(this.store.fs, repository.path)
      const revisions = this.#revisions(family)
      let view = await viewArtifact(revisions, slug, repository, repository.refs.shared(), entry?.view, known)
      // It changed while the view was made. An older view must never replace a newer one.
      for (let refs = repository.refs.shared(); refs !== view.source.refs; refs = repository.refs.shared()) {
        view = await viewArtifact(revisions, slug, repository, refs, view)
      }
      this.tables.apply(view)
    } catch (error) {
      const reason = damageOf(error, path)
      if (!reason) throw error
      this.#setAside(family, slug, reason)
    }
  }

  #setAside(family: Family, slug: string, reason: Refusal): void {
    const { damaged } = this.tables
    const repository = pathOf(family, slug)
    const entry = this.tables.at(repository)
    if (entry) this.tables.drop(entry)
    if (!this.store.exists(family.folder, slug)) return
    const last = entry?.view ?? damaged.get(repository)?.last
    // A repository that no server has made or written to waits to be adopted, and contains nothing with an id.
    const there = this.store.repository(family.folder, slug)
    if (last || isArtifact(there)) damaged.add({ repository, family, last, reason })
    else damaged.setAside({ repository, reason: reason.message })
  }

  async #sweepOnce(family: Family, isUrgent: () => boolean): Promise<void> {
    // A caller that needs all variants must not get a part of them.
    await this.store.filling?.whole
    const slugs = this.store.slugs(family.folder)
    let looked = 0
    let begun = performance.now()
    for (const slug of slugs) {
      if (!this.#isAsSeen(family, slug)) await this.look(family, slug)
      if (++looked % REPOSITORIES_BETWEEN_YIELDS !== 0) continue
      if (isUrgent()) await yieldToEventLoop()
      else await pause((performance.now() - begun) * REST_FACTOR)
      begun = performance.now()
    }
    this.#forgetOthers(family, new Set(slugs))
  }

  /** Whether nothing changed since the last look. Most repositories of a sweep need no yielding. */
  #isAsSeen(family: Family, slug: string): boolean {
    const entry = this.tables.at(pathOf(family, slug))
    if (entry?.restored) return this.#isStill(entry, entry.restored)
    try {
      const view = entry?.seen
      return view !== undefined && view.repository.refs.snapshot() === view.source.refs
    } catch {
      return false // The next look reports the error.
    }
  }

  /** A repository that this process has looked at is compared by its refs, as one with a view. */
  #isStill(entry: IndexEntry, { stamps }: RestoredArtifact): boolean {
    const { slug, family, wasLookedAt } = entry
    try {
      if (wasLookedAt) return this.store.areRefsAt(family.folder, slug, stamps)
      const isStill = this.store.stamps(family.folder, slug) === stamps
      if (isStill) entry.wasLookedAt = true
      return isStill
    } catch {
      return false // The next look reports the error.
    }
  }

  #forgetOthers(family: Family, seen: ReadonlySet<string>): void {
    const { tables } = this
    for (const entry of tables.entries()) {
      const wasSeen = entry.family !== family || seen.has(entry.slug)
      // Not listed and yet there: it was made during this sweep.
      if (!wasSeen && !this.store.exists(family.folder, entry.slug)) tables.drop(entry)
    }
    for (const path of tables.damaged.paths()) {
      const isOurs = path.startsWith(`${family.folder}/`)
      if (isOurs && !seen.has(path.slice(family.folder.length + 1))) tables.damaged.forget(path)
    }
  }

  #hear(news: ReadonlySet<string> | 'everything'): Promise<void> | undefined {
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
    // Before all are here nobody lists them, and those that are named are looked at then.
    if (news === 'everything') return this.store.filling ? undefined : this.sweep()
    for (const path of news) {
      const family = this.families.find((it) => path.startsWith(`${it.folder}/`))
      if (family) await this.look(family, path.slice(family.folder.length + 1))
    }
  }
}

/** Whether the registry made it, even if it cannot be read. If that is unknown, the answer is yes. */
function isArtifact(repository: Repository): boolean {
  try {
    if (repository.wasWritten()) return true
  } catch {
    return true
  }
  try {
    return repository.refs.shared().refs.has(META_REF)
  } catch {
    return false
  }
}

/** Whether requests of this turn can use the last view of the artifact. */
export function isAsViewed({ repository, source }: ArtifactView): boolean {
  try {
    return repository.refs.shared() === source.refs
  } catch {
    return false // The next look reports the error.
  }
}
