import type { Refusal } from '../../errors.ts'
import { assertWhole } from '../../git/project-filling.ts'
import type { Repository } from '../../git/repository.ts'
import type { ProjectStore } from '../../git/project-store.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { Family } from '../family/family.ts'
import { repositoryDigits } from '../ids.ts'
import { slugProblem } from '../slugs/slug.ts'
import { claimedName } from '../slugs/slug-names.ts'
import type { ArtifactList } from './artifact-list.ts'
import { compareRevisions } from './database/compare-revisions.ts'
import type { IndexSource } from './database/index-changes.ts'
import { INDEX_FILE, IndexDatabase } from './database/index-database.ts'
import type { UnreadableArtifacts } from './database/unreadable-artifacts.ts'
import type { RevisionKey, RevisionQuestion } from './database/revision-question.ts'
import { type ArtifactChange, type IndexEntry, pathOf, viewCache } from './index-entry.ts'
import { STALE } from './family-list.ts'
import { IndexSync, isAsViewed } from './index-sync.ts'
import type { IndexTables } from './index-tables.ts'
import type { NearSlug, SlugLevel } from './slug-table.ts'
import type { RepositoryProblem } from './unserved-repositories.ts'

/** A revision of a list, with the artifact it is of and the variants asked for that hold it, oldest first. */
export interface ListedRevision extends RevisionKey {
  readonly artifact: ArtifactView
  readonly holders: readonly VariantView[]
}

/**
 * Finds artifacts by id and slug and lists them: one small record an artifact, derived from the repositories alone, in the same way at
 * start and while serving, so a live index equals a rebuilt one. What it answers by id or slug is checked against the disk first.
 */
export class ArtifactIndex {
  readonly #store: ProjectStore
  readonly #families: readonly Family[]
  readonly #intake: IndexSync
  readonly #tables: IndexTables
  readonly #source: IndexSource
  readonly #database: IndexDatabase

  /** `onProblem` is told of repositories that are not served, or left out of lists, once for each reason; `views` keeps some of those that can be made again. */
  constructor(
    store: ProjectStore,
    families: readonly Family[],
    writer: string,
    onProblem?: (problem: RepositoryProblem) => void,
    views = viewCache(),
  ) {
    this.#store = store
    this.#families = families
    const note = (path: string): void => this.#database.note(path)
    this.#intake = new IndexSync(store, families, writer, note, onProblem, views)
    this.#tables = this.#intake.tables
    this.#source = this.#intake.source((reason) => onProblem?.({ repository: INDEX_FILE, reason }))
    this.#database = new IndexDatabase(store, this.#source)
  }

  /** Calls `watcher` with each change of an artifact, whoever made it, within the write, so it only takes note. Answers how to end that. */
  watch(watcher: (change: ArtifactChange) => void): () => void {
    return this.#tables.watch(watcher)
  }

  /** Takes in what the index file has of a process of before. What is named is looked at then; lists wait for `load`. */
  restore(): void {
    for (const family of this.#families) this.#intake.restore(family, this.#database.saved(family.folder))
  }

  /** Looks at every repository of the project. */
  load(): Promise<void> {
    return this.#intake.load()
  }

  /** Looks at every repository once, or at those of one family; calls that come while it runs share the next round. */
  sweep(family?: Family): Promise<void> {
    return this.#intake.sweep(family)
  }

  /** Takes in what others wrote, as if somebody asked for all lists: for whoever watches. */
  heed(): Promise<void> {
    return this.#intake.heed()
  }

  /** Looks at every repository of the family while nobody waits for that. */
  sweepAtRest(family: Family): Promise<void> {
    return this.#tables.listOf(family).sweepAtRest()
  }

  /** How old lists may be, in milliseconds, where that is more than two seconds; 0 where none is. */
  get age(): number {
    return this.#tables.age
  }

  /** Takes in what this process just wrote to a repository, which it may have `made`, and tells the other processes. */
  written(family: Family, slug: string, made?: Repository): Promise<ArtifactView> {
    return this.#intake.written(family, slug, made)
  }

  /** Forgets a repository that this process just moved away, and tells the other processes. */
  removed(family: Family, slug: string): Promise<void> {
    return this.#intake.removed(family, slug)
  }

  /** Notes that a list was answered without an artifact, because something of it cannot be read. */
  leftOut({ family, slug, repository: { path } }: ArtifactView, { message: reason }: Refusal): void {
    // One that was removed a moment ago is no problem.
    if (!this.#store.exists(family.folder, slug)) return
    this.#tables.damaged.leaveOut({ repository: pathOf(family, slug), reason: `${path}: ${reason}` })
  }

  /** Repositories that are not served, or left out of lists, with the reason. */
  problems(): RepositoryProblem[] {
    const { trouble } = this.#database
    const ofFile = trouble === undefined ? [] : [{ repository: INDEX_FILE, reason: trouble }]
    return [...this.#tables.damaged.problems(), ...ofFile]
  }

  /** Whether an artifact has the digits in which this id ends. */
  hasDigits(id: string): boolean {
    return this.#tables.withDigits(repositoryDigits(id)) !== undefined
  }

  get size(): number {
    return this.#tables.size
  }

  /** A number that is another one after anything the index knows has changed. */
  get generation(): number {
    return this.#tables.generation
  }

  /**
   * Whether everything is as it was at `generation`, looked at as every other question is: then what was found for a question that
   * led to this view would be found again.
   */
  isUnchangedSince(generation: number, view: ArtifactView): boolean {
    return this.#intake.poll() === undefined && this.generation === generation && isAsViewed(view)
  }

  /** The artifact whose id ends in the same digits as `id`, as it is on disk now. */
  async findByDigits(id: string): Promise<ArtifactView | undefined> {
    await this.#intake.poll()
    const digits = repositoryDigits(id)
    let entry = this.#tables.withDigits(digits)
    if (!entry || this.#store.isToCome(entry.family.folder, entry.slug)) {
      if (!(await this.#intake.bring(`id/${digits}`))) await this.sweep()
      entry = this.#tables.withDigits(digits)
    }
    const view = entry && (await this.#intake.current(entry))
    if (!view) this.#tables.damaged.assertNotIn(({ last }) => last === undefined || last.digits === digits)
    return view
  }

  /** The same, looked at once more: what named a revision of it, such as an environment, may be younger than what this turn saw. */
  async findAfresh(id: string): Promise<ArtifactView | undefined> {
    const entry = this.#tables.withDigits(repositoryDigits(id))
    if (entry) await this.#intake.look(entry.family, entry.slug)
    return this.findByDigits(id)
  }

  async findBySlug(family: Family, slug: string): Promise<ArtifactView | undefined> {
    if (slugProblem(slug) !== undefined) return undefined
    await this.#intake.poll()
    const path = pathOf(family, slug)
    if (this.#store.isToCome(family.folder, slug))
      await this.#intake.bring(claimedName(family, 'artifact', slug))
    else if (!this.#tables.at(path) && this.#store.exists(family.folder, slug))
      await this.#intake.look(family, slug)
    const entry = this.#tables.at(path)
    const view = entry && (await this.#intake.current(entry))
    if (!view) this.#tables.damaged.assertNotIn(({ repository }) => repository === path)
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
    const isBrought = await this.#intake.bring(claimedName(family, level, slug))
    // What the index file has of a folder of before may have gone meanwhile.
    if (isBrought) await this.#currentOf(this.#tables.slugs.get(level, family, slug), () => true)
    else await this.#tables.listOf(family).begun()
    // Afresh: another process may have claimed a slug and let go of the lock since the requests of this turn came in.
    await this.#intake.pollAfresh()
    return this.#tables.slugs.has(level, family, slug)
  }

  /** Who has a slug at a level, as last looked at. */
  owners(level: SlugLevel, family: Family, slug: string): ArtifactView[] {
    return this.#tables.slugs.get(level, family, slug).map(({ view }) => view)
  }

  /** The few artifacts whose slugs at a level are nearest to one, as last looked at, each with that slug in lower case; see `nearNames`. */
  near(family: Family, slug: string, level: SlugLevel = 'artifact'): Promise<readonly NearSlug[]> {
    return this.#tables.slugs.near(level, family, slug)
  }

  /** Every artifact of the family, oldest first; at most two seconds behind plain git, or `age` of very many; never behind another server. */
  async list(family: Family): Promise<ArtifactList> {
    assertWhole(this.#store)
    await this.#intake.poll()
    await this.#tables.listOf(family).fresh(STALE)
    return this.seen(family)
  }

  /** Every artifact of the family as it was last looked at, oldest first. */
  seen(family: Family): ArtifactList {
    return this.#tables.listOf(family).artifacts
  }

  /** How long ago, in milliseconds, somebody last asked for the family's list. */
  unasked(family: Family): number {
    return this.#tables.listOf(family).unasked
  }

  /** The revisions of a family that a question asks for, in its order; as fresh as `list`. */
  async revisions(family: Family, question: RevisionQuestion): Promise<AsyncIterable<ListedRevision>> {
    await this.refresh([family])
    return this.#listed(question)
  }

  /** The artifacts of a question that `revisions` leaves out because their commits cannot be read. */
  unreadable(question: RevisionQuestion): UnreadableArtifacts {
    return this.#database.unreadable(question)
  }

  /** At the path of an artifact, `<family>/<slug>`, its view as last looked at. */
  viewAt(path: string): ArtifactView | undefined {
    return this.#tables.at(path)?.view
  }

  /** What lists and searches go over; see IndexDatabase. Brought up to date by `refresh`. */
  get database(): Pick<IndexDatabase, 'file' | 'unsearched' | 'damaged' | 'isWithoutEmbeds'> {
    return this.#database
  }

  /** Has the lists of these families as fresh as `list` has them, and the database with them. */
  async refresh(families: readonly Family[]): Promise<void> {
    for (const family of families) await this.list(family)
    // Until every family was looked through, the database is written nothing of.
    for (const family of this.#families) await this.#tables.listOf(family).begun()
    await this.#database.fresh()
  }

  /** The artifacts of a family, by slug, of whose revisions the index file says something else than the commits do. */
  async misjudged(family: Family): Promise<ReadonlySet<string>> {
    await this.list(family)
    const { fs, folder } = this.#store
    const anew = new IndexDatabase({ fs: { ...fs, isSeenByOthers: false }, folder }, this.#source)
    return compareRevisions(this.#database, anew, family.folder).finally(() => anew.close())
  }

  /** Writes what is known of revisions to the index file, and lets go of it. */
  close(): Promise<void> {
    return this.#database.close()
  }

  async *#listed(question: RevisionQuestion): AsyncGenerator<ListedRevision, void, undefined> {
    for await (const row of this.#database.revisions(question)) {
      const artifact = this.#tables.at(`${question.family}/${row.slug}`)?.view
      const holders = artifact?.variants.filter(({ slug }) => row.holders.includes(slug)) ?? []
      // One that was removed since the row was read is not listed.
      if (artifact && holders.length > 0) yield { ...row, artifact, holders }
    }
  }

  async #findBySlugOf(
    level: 'variant' | 'tag',
    family: Family,
    slug: string,
    has: (view: ArtifactView) => boolean,
  ): Promise<ArtifactView[]> {
    await this.#intake.poll()
    const isBrought = await this.#intake.bring(claimedName(family, level, slug))
    const found = await this.#currentOf(this.#tables.slugs.get(level, family, slug), has)
    if (found.length > 0) return found
    if (!isBrought) await this.sweep(family)
    const later = await this.#currentOf(this.#tables.slugs.get(level, family, slug), has)
    if (later.length === 0) {
      const mayHave = (last: ArtifactView | undefined): boolean => last === undefined || has(last)
      this.#tables.damaged.assertNotIn((it) => it.family === family && mayHave(it.last))
    }
    return later
  }

  async #currentOf(
    entries: readonly IndexEntry[],
    has: (view: ArtifactView) => boolean,
  ): Promise<ArtifactView[]> {
    const views = await Promise.all(entries.map((entry) => this.#intake.current(entry)))
    return views.flatMap((view) => (view && has(view) ? [view] : []))
  }
}
