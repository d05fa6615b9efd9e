import type { Refusal } from '../../errors.ts'
import { assertWhole, type ProjectStore } from '../../git/store.ts'
import type { ArtifactView, VariantView } from '../artifacts/artifact-view.ts'
import type { Family } from '../payload/family.ts'
import { repositoryDigits } from '../store/ids.ts'
import type { RevisionCache } from '../revisions/stored-revision.ts'
import {
  claimedName,
  claimsIn,
  isOlder,
  type NearSlug,
  type SlugClaim,
  type SlugLevel,
  type WantedSlug,
} from './slug-table.ts'
import type { RepositoryProblem } from './damaged-repositories.ts'
import type { RevisionKey, RevisionQuestion } from './database/find-revisions.ts'
import { INDEX_FILE, IndexDatabase, type UnreadableArtifacts } from './database/index-database.ts'
import { type ArtifactChange, pathOf, viewCache } from './index-entry.ts'
import { IndexSync, isAsViewed } from './index-sync.ts'
import { type ArtifactList, STALE } from './index-tables.ts'

/** A revision of a list, with the artifact it is of and the variants asked for that hold it, oldest first. */
export interface ListedRevision extends RevisionKey {
  readonly artifact: ArtifactView
  readonly holders: readonly VariantView[]
}

/** The artifact of a claim, and since when it has it. */
export interface FoundClaim {
  readonly artifact: ArtifactView
  readonly since: string
}

/**
 * Finds artifacts by id and slug and lists them: one small record an artifact, derived from the repositories alone, in the same way at
 * start and while serving, so a live index equals a rebuilt one. What it answers by id or slug is checked against the disk first.
 */
export class ArtifactIndex extends IndexSync {
  /** What lists of revisions and searches go over; brought up to date by `refresh`. */
  readonly database: IndexDatabase
  readonly #onTrouble: (reason: string) => void

  /** `onProblem` is told of repositories that are not served, or left out of lists, once for each reason; `views` keeps some of those that can be made again. */
  constructor(
    store: ProjectStore,
    families: readonly Family[],
    revisions: (family: Family) => RevisionCache,
    writer: string,
    onProblem?: (problem: RepositoryProblem) => void,
    views = viewCache(),
  ) {
    super(store, families, revisions, writer, onProblem, views)
    this.#onTrouble = (reason) => onProblem?.({ repository: INDEX_FILE, reason })
    this.database = new IndexDatabase(store, this, this.#onTrouble)
    this.watch(this.database.note)
  }

  /** Calls `watcher` with each change of an artifact, whoever made it, within the write, so it only takes note. Answers how to end that. */
  watch(watcher: (change: ArtifactChange) => void): () => void {
    return this.tables.watch(watcher)
  }

  /** Calls `recorder` likewise with each view that has a date which stands nowhere else. */
  watchUnrecorded(recorder: (view: ArtifactView) => void): () => void {
    return this.tables.watchUnrecorded(recorder)
  }

  /** Takes in what the index file has of a process of before. What is named is looked at then; lists wait for `load`. */
  restore(): void {
    for (const family of this.families) this.restoreFamily(family, this.database.saved(family.folder))
  }

  /** Looks at every repository of the family while nobody waits for that. */
  sweepAtRest(family: Family): Promise<void> {
    return this.tables.listOf(family).sweepAtRest()
  }

  /** How old lists may be, in milliseconds, where that is more than two seconds; 0 where none is. */
  get age(): number {
    return this.tables.age
  }

  /** Notes that a list was answered without an artifact, because something of it cannot be read. */
  leftOut({ family, slug, repository: { path } }: ArtifactView, { message: reason }: Refusal): void {
    // One that was removed a moment ago is no problem.
    if (!this.store.exists(family.folder, slug)) return
    this.tables.damaged.leaveOut({ repository: pathOf(family, slug), reason: `${path}: ${reason}` })
  }

  /** Repositories that are not served, or left out of lists, with the reason. */
  problems(): RepositoryProblem[] {
    const { trouble } = this.database
    const ofFile = trouble === undefined ? [] : [{ repository: INDEX_FILE, reason: trouble }]
    return [...this.tables.damaged.problems(), ...ofFile]
  }

  /** Whether an artifact has the digits in which this id ends. */
  hasDigits(id: string): boolean {
    return this.tables.withDigits(repositoryDigits(id)) !== undefined
  }

  get size(): number {
    return this.tables.size
  }

  /** A number that is another one after anything the index knows has changed. */
  get generation(): number {
    return this.tables.generation
  }

  /**
   * Whether everything is as it was at `generation`, looked at as every other question is: then what was found for a question that
   * led to this view would be found again.
   */
  isUnchangedSince(generation: number, view: ArtifactView): boolean {
    return this.poll() === undefined && this.generation === generation && isAsViewed(view)
  }

  /**
   * The artifact of the oldest of the claims that are asked for, as it is on the disk now: what a slug means that stands alone (decision
   * 40). The others are not looked at. Undefined where nobody claims any.
   */
  async oldestClaim(family: Family, wanted: readonly WantedSlug[]): Promise<FoundClaim | undefined> {
    await this.poll()
    const isBrought = this.store.filling !== undefined
    if (isBrought) await this.#bringAll(family, wanted)
    let found = await this.#oldestNow(family, wanted)
    if (!found && !isBrought) {
      await this.sweep(family)
      found = await this.#oldestNow(family, wanted)
    }
    // One that cannot be read keeps what it had: nobody younger answers for it.
    this.tables.damaged.assertNotIn(({ family: of, last }) => {
      if (of !== family) return false
      const had = last && claimsIn(last, wanted)[0]
      return last === undefined ? !found : had !== undefined && (!found || had.since < found.since)
    })
    return found
  }

  /** Whether a slug is taken at a level, compared without case. Only sure while claiming slugs (see ProjectStore). */
  async isTaken(level: SlugLevel, family: Family, slug: string): Promise<boolean> {
    const isBrought = await this.bring(claimedName(family, level, slug))
    // What the index file has of a folder of before may have gone meanwhile.
    if (isBrought)
      for (const { entry } of [...this.tables.slugs.alike(level, family, slug)]) await this.current(entry)
    else await this.tables.listOf(family).begun()
    // Afresh: another process may have claimed a slug and let go of the lock since the requests of this turn came in.
    await this.pollAfresh()
    return this.tables.slugs.has(level, family, slug)
  }

  /**
   * The oldest claim of another artifact on one of these slugs that is older than an artifact's own; as last looked at.
   */
  async olderClaim(
    family: Family,
    wanted: readonly WantedSlug[],
    own: { readonly id: string; readonly since: string },
  ): Promise<(Omit<SlugClaim, 'entry'> & { readonly artifact: string }) | undefined> {
    await this.poll()
    if (this.store.filling) await this.#bringAll(family, wanted)
    let oldest: SlugClaim | undefined
    for (const [level, slug] of wanted)
      for (const claim of this.tables.slugs.claims(level, family, slug, { others: own.id })) {
        if (claim.since > own.since || (oldest && isOlder(oldest, claim))) break
        if (claim.since === own.since && claim.entry.id > own.id) continue
        oldest = claim
        break
      }
    return oldest && { ...oldest, artifact: oldest.entry.slug }
  }

  /** Who has a slug at a level, whatever its case, as last looked at. */
  alike(level: SlugLevel, family: Family, slug: string): readonly SlugClaim[] {
    return this.tables.slugs.alike(level, family, slug)
  }

  /** Who has this very slug at a level, as last looked at, the oldest first. */
  *claims(level: SlugLevel, family: Family, slug: string): Generator<SlugClaim, void, undefined> {
    yield* this.tables.slugs.claims(level, family, slug)
  }

  /** The few artifacts whose slugs at a level are nearest to one, as last looked at, each with that slug in lower case; see `nearNames`. */
  near(family: Family, slug: string, level: SlugLevel = 'artifact'): Promise<readonly NearSlug[]> {
    return this.tables.slugs.near(level, family, slug)
  }

  /** Every artifact of the family, oldest first; at most two seconds behind plain git, or `age` of very many; never behind another server. */
  async list(family: Family): Promise<ArtifactList> {
    assertWhole(this.store)
    await this.poll()
    await this.tables.listOf(family).fresh(STALE)
    return this.seen(family)
  }

  /** Every artifact of the family as it was last looked at, oldest first. */
  seen(family: Family): ArtifactList {
    return this.tables.listOf(family).artifacts
  }

  /** How long ago, in milliseconds, somebody last asked for the family's list. */
  unasked(family: Family): number {
    return this.tables.listOf(family).unasked
  }

  /** The revisions of a family that a question asks for, in its order; as fresh as `list`. */
  async revisions(family: Family, question: RevisionQuestion): Promise<AsyncIterable<ListedRevision>> {
    await this.refresh([family])
    return this.#listed(question)
  }

  /** The artifacts of a question that `revisions` leaves out because their commits cannot be read. */
  unreadable(question: RevisionQuestion): UnreadableArtifacts {
    return this.database.unreadable(question)
  }

  /** The ids of all artifacts of which only this process, or the index file, knows since when some branch or tag is there; as last looked at. */
  unrecorded(): string[] {
    return Array.from(this.tables.entries(), ({ isUnrecorded, id }) => (isUnrecorded ? id : [])).flat()
  }

  /** Has the lists of these families as fresh as `list` has them, and the database with them. */
  async refresh(families: readonly Family[]): Promise<void> {
    for (const family of families) await this.list(family)
    // Until every family was looked through, the database is written nothing of.
    for (const family of this.families) await this.tables.listOf(family).begun()
    await this.database.fresh()
  }

  /** A database of the same artifacts, made anew in memory for a comparison. The caller closes it. */
  rebuilt(): IndexDatabase {
    const { fs, folder } = this.store
    return new IndexDatabase({ fs: { ...fs, isSeenByOthers: false }, folder }, this, this.#onTrouble)
  }

  /** Writes what is known of revisions to the index file, and lets go of it. */
  close(): Promise<void> {
    return this.database.close()
  }

  async *#listed(question: RevisionQuestion): AsyncGenerator<ListedRevision, void, undefined> {
    for await (const row of this.database.revisions(question)) {
      const artifact = this.tables.at(`${question.family}/${row.slug}`)?.view
      const holders = artifact?.variants.filter(({ slug }) => row.holders.includes(slug)) ?? []
      // One that was removed since the row was read is not listed.
      if (artifact && holders.length > 0) yield { ...row, artifact, holders }
    }
  }

  /** While not all repositories are here: has those here that have one of these slugs. */
  async #bringAll(family: Family, wanted: readonly WantedSlug[]): Promise<void> {
    for (const [level, slug] of wanted) await this.bring(claimedName(family, level, slug))
  }

  async #oldestNow(family: Family, wanted: readonly WantedSlug[]): Promise<FoundClaim | undefined> {
    for (;;) {
      const claim = this.#oldestSeen(family, wanted)
      if (!claim) return undefined
      const view = await this.current(claim.entry)
      // The look may have shown that it is gone, or another one is older.
      if (!view) continue
      const now = this.#oldestSeen(family, wanted)
      if (now?.entry === claim.entry && now.since === claim.since)
        return { artifact: view, since: claim.since }
    }
  }

  #oldestSeen(family: Family, wanted: readonly WantedSlug[]): SlugClaim | undefined {
    let oldest: SlugClaim | undefined
    for (const [level, slug] of wanted) {
      const [claim] = this.tables.slugs.claims(level, family, slug)
      if (claim && (!oldest || isOlder(claim, oldest))) oldest = claim
    }
    return oldest
  }
}
