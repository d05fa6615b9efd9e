import { createDurableFolder } from '../storage/durable-folder.ts'
import type { Fs } from '../storage/fs.ts'
import { guardedFs } from '../storage/guarded-fs.ts'
import { StoreGuard } from '../storage/store-guard.ts'
import { openFollowing } from './following/open-following.ts'
import type { OpenLog } from './following/shared-log.ts'
import { FileArbiter } from './journal/file-arbiter.ts'
import { Journal } from './journal/journal.ts'
import { keepRecovering } from './journal/recover-for-dead-servers.ts'
import { recoverJournals } from './journal/recover.ts'
import { PackCache } from './packs/pack-cache.ts'
import { refuseCopy } from './refuse-copy.ts'
import { type Arbiter, type Filling, type Freshness } from './transactions/arbiter.ts'
import { bringUp, makeStore } from './store-format.ts'
import { ProjectStore } from './project-store.ts'

/** A store on disk: `<dir>/<project>/<family folder>/<slug>.git`. */
export class Store {
  /** For all that lies in it; refuses everything while the store is not where it was opened. */
  readonly fs: Fs
  readonly dir: string
  readonly guard: StoreGuard
  /** Whether opening it brought it up from the layout of before. */
  readonly isBroughtUp: boolean
  readonly #packs: PackCache
  readonly #arbiter: Arbiter

  private constructor(fs: Fs, dir: string, isBroughtUp: boolean, { arbiter, guard, packs }: Opened) {
    this.isBroughtUp = isBroughtUp
    this.guard = guard
    this.fs = guardedFs(fs, this.guard)
    this.dir = dir
    this.#packs = packs
    this.#arbiter = arbiter
    this.guard.onReturn(async () => {
      await this.#arbiter.afterReturn()
      // What is open may be of a disk that is no more.
      this.#packs.close()
    })
  }

  /** Opens the store at `dir`, making an empty one if there is nothing; refuses a layout it does not know, and a copy of a database. */
  static async open(fs: Fs, dir: string): Promise<Store> {
    refuseCopy(fs, dir)
    await makeStore(fs, dir)
    await recoverJournals(fs, dir)
    const isBroughtUp = await bringUp(fs, dir)
    // Servers before this one kept empty files ready here.
    fs.removeTree(`${dir}/.spare`)
    const guard = new StoreGuard(fs, `${dir}/format`)
    const arbiter = new FileArbiter(new Journal(fs, dir, guard), dir)
    return new Store(fs, dir, isBroughtUp, { arbiter, guard, packs: new PackCache() })
  }

  /**
   * Opens the folder at `dir` as a copy of what a log holds that several servers share, and resolves once it can be served; what it has not
   * yet it is filled with (see `filling`). Throws a CannotStart where another process uses the folder, or it is a copy of something else.
   */
  static async follow(fs: Fs, dir: string, openLog: OpenLog): Promise<Store> {
    const packs = new PackCache()
    const { arbiter, guard, documents } = await openFollowing(fs, dir, openLog, packs)
    return new Store({ ...fs, documents }, dir, false, { arbiter, guard, packs })
  }

  /** Syncs what is only in the journal, and drops it; closes every pack. After the last write and the last read. */
  async close(): Promise<void> {
    await this.#arbiter.close()
    this.#packs.close()
    this.guard.close()
  }

  /**
   * Resolves once everything that was acknowledged before the call can be read here; where servers share a log, as far as READS wants it,
   * and with what that is. Refuses while the store is not there.
   */
  async fresh(): Promise<Freshness | undefined> {
    this.guard.assertThere()
    return this.#arbiter.readable()
  }

  /** Where a database is being taken over into the folder: how far that is. */
  get filling(): Filling | undefined {
    return this.#arbiter.filling
  }

  /** Syncs what is only in the journal to where it belongs. */
  checkpoint(): Promise<void> {
    return this.#arbiter.checkpoint()
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
    return this.#arbiter.notes()
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

/** What a store stands on. */
interface Opened {
  readonly arbiter: Arbiter
  readonly guard: StoreGuard
  readonly packs: PackCache
}
