import { basename, dirname } from 'node:path/posix'
import { CacheFile } from '../storage/cache-file.ts'
import { createDurableFolder } from '../storage/durable-folder.ts'
import type { FileStat, Fs } from '../storage/fs.ts'
import { guardedFs } from '../storage/guarded-fs.ts'
import { isDead, parseIdentity } from '../storage/process-identity.ts'
import { StoreGuard } from '../storage/store-guard.ts'
import type { NewRepository } from './create-repository.ts'
import { BUILD_PREFIX, buildFolder, createRepository } from './create-repository.ts'
import { FileArbiter } from './journal/file-arbiter.ts'
import { journalsOf } from './journal/journal-folder.ts'
import { Journal } from './journal/journal.ts'
import { keepRecovering } from './journal/recover-for-dead-servers.ts'
import { recoverJournals } from './journal/recover.ts'
import { PackCache } from './packs/pack-cache.ts'
import { StreamingPackWriter } from './packs/streaming-pack-writer.ts'
import type { SavedRefs } from './refs/ref-store.ts'
import { areRefsAt, repositoryStamps } from './refs/ref-stamps.ts'
import { repositoryPath } from './repository-path.ts'
import { Repository } from './repository.ts'
import { SlugClaims } from './slug-claims.ts'
import type { Arbiter } from './transactions/arbiter.ts'
import { TRASH_FOLDER } from './trash/folder-move.ts'
import { bringUp, makeStore } from './store-format.ts'
import { TrashFolder } from './trash/trash-folder.ts'

/** A store on disk: `<dir>/<project>/<family folder>/<slug>.git`. */
export class Store {
  /** For all that lies in it; refuses everything while the store is not where it was opened. */
  readonly fs: Fs
  readonly dir: string
  readonly guard: StoreGuard
  /** Whether opening it brought it up from the layout of before. */
  readonly isBroughtUp: boolean
  readonly #packs = new PackCache()
  readonly #journal: Journal
  readonly #arbiter: Arbiter

  private constructor(fs: Fs, dir: string, isBroughtUp: boolean) {
    this.isBroughtUp = isBroughtUp
    this.guard = new StoreGuard(fs, `${dir}/format`)
    this.fs = guardedFs(fs, this.guard)
    this.dir = dir
    this.#journal = new Journal(fs, dir, this.guard)
    this.#arbiter = new FileArbiter(this.#journal, dir)
    this.guard.onReturn(async () => {
      await this.#journal.redo()
      // What is open may be of a disk that is no more.
      this.#packs.close()
    })
  }

  /** Opens the store at `dir`, making an empty one if there is nothing; refuses a layout it does not know. */
  static async open(fs: Fs, dir: string): Promise<Store> {
    await makeStore(fs, dir)
    await recoverJournals(fs, dir)
    const isBroughtUp = await bringUp(fs, dir)
    // Servers before this one kept empty files ready here.
    fs.removeTree(`${dir}/.spare`)
    return new Store(fs, dir, isBroughtUp)
  }

  /** Syncs what is only in the journal, and drops it; closes every pack. After the last write and the last read. */
  async close(): Promise<void> {
    await this.#journal.close()
    this.#packs.close()
    this.guard.close()
  }

  /** Resolves once everything that was acknowledged before the call can be read here. Refuses while the store is not there. */
  async fresh(): Promise<void> {
    this.guard.assertThere()
    await this.#arbiter.fresh()
  }

  /** Syncs what is only in the journal to where it belongs. */
  checkpoint(): Promise<void> {
    return this.#journal.checkpoint()
  }

  /**
   * Closes, every so many milliseconds, the packs that upkeep, a roll-up or git has removed: who reads a repository all
   * the time would keep them open, and their room on the disk taken, for ever. Answers how to stop it.
   */
  keepRemovedClosed(every = 30_000): () => void {
    const timer = setInterval(() => this.#packs.closeRemoved(this.fs), every).unref()
    return () => clearInterval(timer)
  }

  /** Finishes what a dead process decided to write (see Arbiter), before one of its locks is taken over. */
  finishFor(dead: string): Promise<void> {
    return this.#arbiter.finishFor(dead)
  }

  /** The notes of writes that were decided and are in no file of their own yet (see DecisionNote). */
  notes(): readonly string[] {
    return this.#journal.notes()
  }

  /**
   * Finishes, every second, what other servers decided and died before it was in place, and then does what `afterwards` does; see
   * recoverForDeadServers. Answers how to stop it.
   */
  keepFinishing(afterwards: () => void): () => Promise<void> {
    return keepRecovering(this.fs, this.dir, afterwards)
  }

  /** The names of its projects. */
  projects(): string[] {
    const names = this.fs.readDir(this.dir) ?? []
    return names.filter(
      (name) => !name.startsWith('.') && this.fs.stat(`${this.dir}/${name}`)?.kind === 'folder',
    )
  }

  /** One project's folder, made if need be. */
  async project(name: string): Promise<ProjectStore> {
    const folder = `${this.dir}/${name}`
    await createDurableFolder(this.fs, folder)
    return new ProjectStore(this.fs, folder, this.#packs, this.#arbiter)
  }
}

/** A folder in which a new repository is prepared. */
export interface NewFolder {
  readonly path: string
  packBuilder(): StreamingPackWriter
  derived(name: string): CacheFile
  /** Removes it, if no repository was made of it. */
  discard(): void
}

/** The slugs in a folder when it had this time. */
interface ListedFolder extends Pick<FileStat, 'modified' | 'inode'> {
  readonly slugs: readonly string[]
}

const NO_SLUGS: readonly string[] = []

/** A folder that changed longer ago (milliseconds) will show its next change: file systems keep times as coarsely as two seconds. */
const SETTLED = 2100

/** The repositories of one project, and how the server processes that serve it tell each other what they wrote. */
export class ProjectStore {
  readonly fs: Fs
  readonly folder: string
  /** What was removed of it. */
  readonly trash: TrashFolder
  readonly #packs: PackCache
  readonly #claims: SlugClaims
  readonly #arbiter: Arbiter
  /** What was last read of the folders of families. */
  readonly #listed = new Map<string, ListedFolder>()
  /** The folders of families that are there and on the disk. */
  readonly #families = new Map<string, Promise<void>>()

  constructor(fs: Fs, folder: string, packs: PackCache, arbiter: Arbiter) {
    this.#arbiter = arbiter
    this.fs = fs
    this.folder = folder
    this.#packs = packs
    this.#claims = new SlugClaims(fs, folder, (dead) => arbiter.finishFor(dead))
    this.trash = new TrashFolder(fs, folder, packs, arbiter)
  }

  /** The same as `slugs` of what lies in the trash. */
  trashedSlugs(family: string): readonly string[] {
    return this.slugs(`${TRASH_FOLDER}/${family}`)
  }

  /**
   * The names `<slug>.git` in a family's folder, as slugs: the same array as long as none came or went. Builds that a dead process left
   * behind are removed.
   */
  slugs(family: string): readonly string[] {
    const folder = `${this.folder}/${family}`
    const stat = this.fs.stat(folder)
    if (!stat) return NO_SLUGS
    const known = this.#listed.get(family)
    if (known && known.modified === stat.modified && known.inode === stat.inode) return known.slugs
    const slugs = this.#namesIn(folder)
    // A folder that changed just now may change again without its time showing it, and a link to one on another disk never shows it.
    if (stat.kind === 'folder' && Date.now() - stat.modified > SETTLED)
      this.#listed.set(family, { slugs, ...stat })
    else this.#listed.delete(family)
    return slugs
  }

  #namesIn(folder: string): readonly string[] {
    const slugs = []
    for (const name of this.fs.readDir(folder) ?? []) {
      if (name.endsWith('.git') && !name.startsWith('.')) slugs.push(name.slice(0, -'.git'.length))
      else if (name.startsWith(BUILD_PREFIX)) this.#removeIfDead(folder, name)
    }
    return slugs
  }

  repository(family: string, slug: string, saved?: SavedRefs): Repository {
    const path = repositoryPath(this.folder, family, slug)
    return new Repository(this.fs, path, this.#packs, this.#arbiter, saved)
  }

  /** See repositoryStamps. */
  stamps(family: string, slug: string): string | undefined {
    return repositoryStamps(this.fs, repositoryPath(this.folder, family, slug))
  }

  /** See areRefsAt. */
  areRefsAt(family: string, slug: string, stamps: string): boolean {
    return areRefsAt(this.fs, repositoryPath(this.folder, family, slug), stamps)
  }

  /**
   * A repository that was built aside, to be looked at before it gets its name. What is kept of it in memory goes when `close` is
   * called, before it is renamed or removed.
   */
  openAside(path: string): { readonly repository: Repository; readonly close: () => void } {
    const packs = new PackCache()
    return { repository: new Repository(this.fs, path, packs, this.#arbiter), close: () => packs.close() }
  }

  exists(family: string, slug: string): boolean {
    return this.fs.stat(repositoryPath(this.folder, family, slug)) !== undefined
  }

  /** Makes a repository in one step, and answers it; see createRepository. To be called while claiming slugs. */
  async create(family: string, slug: string, content: NewRepository, aside?: NewFolder): Promise<Repository> {
    const name = basename(repositoryPath(this.folder, family, slug))
    const folder = await this.#familyFolder(family)
    await createRepository(this.#arbiter, this.fs, folder, name, content, aside?.path)
    const repository = this.repository(family, slug)
    repository.objects.remember(content.objects)
    return repository
  }

  /** Where a large new repository is built: its packs are staged there before `create` is called with it. */
  async prepare(family: string): Promise<NewFolder> {
    const path = buildFolder(this.fs, await this.#familyFolder(family))
    return {
      path,
      packBuilder: () => new StreamingPackWriter(this.fs, path),
      derived: (name) => new CacheFile(this.fs, `${path}/${name}`),
      discard: () => this.fs.removeTree(path),
    }
  }

  async #familyFolder(family: string): Promise<string> {
    const folder = `${this.folder}/${family}`
    let ready = this.#families.get(family)
    if (!ready) {
      ready = createDurableFolder(this.fs, folder)
      this.#families.set(family, ready)
      // A failure is told to those who wait; the next one tries again.
      ready.catch(() => this.#families.delete(family))
    }
    await ready
    return folder
  }

  /** Resolves once the names of a family's repositories are on the disk. */
  syncNames(family: string): Promise<void> {
    return this.fs.syncDir(`${this.folder}/${family}`)
  }

  /**
   * Runs `work` while no other writer, in this or another process, can claim one of these names in this project; without names, any
   * slug. What a dead one decided while it claimed one is in place before.
   */
  claimingSlugs<T>(work: () => Promise<T>, names?: readonly string[]): Promise<T> {
    return this.#claims.run(work, names)
  }

  #removeIfDead(folder: string, name: string): void {
    const owner = parseIdentity(name.slice(BUILD_PREFIX.length))
    // What its journal tells of was decided, and gets its name first.
    if (owner && isDead(owner) && journalsOf(this.fs, dirname(this.folder), owner).length === 0)
      this.fs.removeTree(`${folder}/${name}`)
  }
}
