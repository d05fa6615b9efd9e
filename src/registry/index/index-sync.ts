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

/** How many times as long as it works a sweep rests that nobody waits for. */
const REST_FACTOR = 9

/**
 * An index that keeps its tables current: it looks at repositories, one by one or family by family, hears what other processes wrote, and is
 * told what this one wrote. What it finds by id or slug is checked against the disk first.
 */
export class IndexSync {
  readonly tables: IndexTables
  protected readonly store: ProjectStore
  protected readonly families: readonly Family[]
  readonly #revisions: (family: Family) => RevisionCache
  readonly #changes: ChangeFeed
  #hearing: Promise<void> | undefined
  /** What follows in other artifacts from a write to an environment. */
  #follow: (environment: ArtifactView) => Promise<void> = async () => undefined

  /** `revisions` answers the decoded revisions of a family, for views to carry. */
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

  /** Takes in what a process of before saw of the artifacts of a family. */
  protected restoreFamily(
    family: Family,
    rows: Iterable<{ readonly slug: string; readonly saved: string }>,
  ): void {
    // What others wrote until now shows in the repositories, which nobody has looked at yet.
    this.#changes.poll()
    for (const { slug, saved } of rows) {
      const artifact = this.#savedArtifact(family, slug, saved)
      if (artifact) this.tables.restore(family, slug, artifact)
    }
  }

  /** Takes in that the index file has a view, as this text. */
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

  /** Takes in what other processes wrote; also waits for what is being taken in already. Undefined where there is nothing to wait for. */
  protected poll(): Promise<void> | undefined {
    return this.#hear(this.#changes.poll())
  }

  /** The same, whatever requests of this turn heard already. */
  protected pollAfresh(): Promise<void> | undefined {
    return this.#hear(this.#changes.pollAfresh())
  }

  /** Takes in what others wrote, for somebody who asks for nothing: of other servers at once, of plain git as for a list. */
  async heed(): Promise<void> {
    await this.pollAfresh()
    if (this.store.filling) return
    for (const family of this.families) await this.tables.listOf(family).fresh(STALE)
  }

  /** While not all repositories are here: has those here that have a name, and looks at them. False where all are. */
  protected async bring(name: string): Promise<boolean> {
    const { filling } = this.store
    for (const { folder, slug } of (await filling?.bring(name)) ?? []) {
      const family = this.families.find((it) => it.folder === folder)
      if (family && this.store.exists(folder, slug)) await this.look(family, slug)
    }
    return filling !== undefined
  }

  /** Looks at every repository once, or at those of one family; calls that come while it runs share the next round. */
  async sweep(family?: Family): Promise<void> {
    for (const it of family ? [family] : this.families) await this.tables.listOf(it).fresh(0)
  }

  /** The artifact whose id ends in the same digits as `id`, as it is on disk now. */
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

  /** The same, looked at once more: what named a revision of it, such as an environment, may be younger than what this turn saw. */
  async findAfresh(id: string): Promise<ArtifactView | undefined> {
    const entry = this.tables.withDigits(repositoryDigits(id))
    if (entry) await this.look(entry.family, entry.slug)
    return this.findByDigits(id)
  }

  async findBySlug(family: Family, slug: string): Promise<ArtifactView | undefined> {
    const path = pathOf(family, slug)
    const known = this.tables.at(path)
    // A folder of another name is listed, and found by no slug.
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

  /** At the path of an artifact, `<family>/<slug>`, its view as last looked at. */
  viewAt(path: string): ArtifactView | undefined {
    return this.tables.at(path)?.view
  }

  /** Takes in what this process just wrote to a repository, which it may have `made`, and tells the other processes. */
  async takeInOwn(family: Family, slug: string, made?: Repository): Promise<ArtifactView> {
    const path = pathOf(family, slug)
    this.#changes.publish(path)
    const before = this.tables.at(path)?.seen
    // Else somebody took it in; or it was written by another object, whose view was let go of meanwhile.
    if (before && before.repository.refs.latest !== before.source.refs) {
      const { repository, revisions } = before
      let now = before
      // The disk need not be looked at again.
      for (let refs = repository.refs.latest; refs !== now.source.refs; refs = repository.refs.latest)
        now = await viewArtifact(revisions, slug, repository, refs, now)
      if (this.tables.at(path)?.view.source.refs !== now.source.refs) this.tables.apply(now)
    } else await this.look(family, slug, made)
    const view = this.tables.at(path)?.view
    if (!view) throw new Refusal('artifact_not_found', `${path} vanished from the store.`)
    return view
  }

  /** The same, and does what follows in other artifacts. */
  async written(family: Family, slug: string, made?: Repository): Promise<ArtifactView> {
    const view = await this.takeInOwn(family, slug, made)
    if (family.pins) await this.#follow(view)
    return view
  }

  /** Has `follow` do what follows in other artifacts from each write to an environment, before that is answered. */
  onEnvironmentWritten(follow: (environment: ArtifactView) => Promise<void>): void {
    this.#follow = follow
  }

  /** Takes in that this process just moved a repository away, and tells the other processes. */
  async removed(family: Family, slug: string): Promise<void> {
    this.#changes.publish(pathOf(family, slug))
    await this.look(family, slug)
  }

  /** The entry's view as of now; undefined if the repository is gone or no longer served. */
  protected async current(entry: IndexEntry): Promise<ArtifactView | undefined> {
    if (!entry.restored && isAsViewed(entry.view)) return entry.view
    await this.look(entry.family, entry.slug)
    return this.tables.at(entry.path)?.view
  }

  /** Takes in a repository as it is now, whatever that is: new, moved, gone, damaged. */
  async look(family: Family, slug: string, made?: Repository): Promise<void> {
    const path = pathOf(family, slug)
    const known = this.tables.at(path)
    // What was seen before is worth nothing once anything has changed: it is looked at like one that is new.
    const entry = known?.restored && !this.#isStill(known, known.restored) ? undefined : known
    try {
      const repository = entry?.view.repository ?? made ?? this.store.repository(family.folder, slug)
      if (entry && repository.refs.snapshot() === entry.view.source.refs) return
      if (!entry && !made) await assertServable(this.store.fs, repository.path)
      const revisions = this.#revisions(family)
      let view = await viewArtifact(revisions, slug, repository, repository.refs.shared(), entry?.view, known)
      // Something moved while the view was made: an older view must never replace a newer one.
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
    // What no server ever made or wrote to waits to be adopted, and holds nothing that has an id.
    const there = this.store.repository(family.folder, slug)
    if (last || isArtifact(there)) damaged.add({ repository, family, last, reason })
    else damaged.setAside({ repository, reason: reason.message })
  }

  async #sweepOnce(family: Family, isUrgent: () => boolean): Promise<void> {
    // Nobody who needs all of them gets what is a part.
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

  /** Whether nothing moved since the last look: most repositories of a sweep are not worth waiting for. */
  #isAsSeen(family: Family, slug: string): boolean {
    const entry = this.tables.at(pathOf(family, slug))
    if (entry?.restored) return this.#isStill(entry, entry.restored)
    try {
      const view = entry?.seen
      return view !== undefined && view.repository.refs.snapshot() === view.source.refs
    } catch {
      return false // the look says what is wrong
    }
  }

  /** What this process has looked at is judged by its refs from then on, as what it has a view of is. */
  #isStill(entry: IndexEntry, { stamps }: RestoredArtifact): boolean {
    const { slug, family, wasLookedAt } = entry
    try {
      if (wasLookedAt) return this.store.areRefsAt(family.folder, slug, stamps)
      const isStill = this.store.stamps(family.folder, slug) === stamps
      if (isStill) entry.wasLookedAt = true
      return isStill
    } catch {
      return false // the look says what is wrong
    }
  }

  #forgetOthers(family: Family, seen: ReadonlySet<string>): void {
    const { tables } = this
    for (const entry of tables.entries()) {
      const wasSeen = entry.family !== family || seen.has(entry.slug)
      // Not seen and there all the same: made while this sweep was under way.
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
    // Before all are here nobody goes over them, and what is named is looked at then.
    if (news === 'everything') return this.store.filling ? undefined : this.sweep()
    for (const path of news) {
      const family = this.families.find((it) => path.startsWith(`${it.folder}/`))
      if (family) await this.look(family, path.slice(family.folder.length + 1))
    }
  }
}

/** Whether it is of the registry's making, whatever of it cannot be read; where nothing can be told, it is. */
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

/** Whether the requests of this turn see the artifact as it was last viewed. */
export function isAsViewed({ repository, source }: ArtifactView): boolean {
  try {
    return repository.refs.shared() === source.refs
  } catch {
    return false // the look says what is wrong
  }
}
