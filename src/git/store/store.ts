import {
  createDurableFolder,
  type Fs,
  guardedFs,
  StoreGuard,
  isDeadSinceBoot,
  parseIdentity,
  type ProcessIdentity,
  isDead,
  thisProcess,
} from '../../storage/files.ts'
import { Journal } from '../journal/journal.ts'
import { PackCache } from '../packs/pack-cache.ts'
import { refuseCopy } from './refuse-copy.ts'
import type { Arbiter, Filling, Freshness, SharedFolder } from '../transactions/arbiter.ts'
import { bringUp, makeStore } from './store-format.ts'
import { ProjectStore } from './project-store.ts'
import { liveFolder } from '../trash/folder-move.ts'
import {
  announceWrites,
  finishJournal,
  removeJournal,
  restoreCreations,
  finishFolderMoves,
  restorePacks,
  restoreRefs,
  writesIn,
} from '../journal/finish-journal.ts'
import {
  JOURNAL_FOLDER,
  type JournalRecord,
  checkpointJournal,
  decodeJournal,
  keepNotes,
  syncFolderMoves,
  syncJournalNames,
  syncPublished,
} from '../journal/journal-record.ts'

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

  constructor(fs: Fs, dir: string, isBroughtUp: boolean, { arbiter, guard, packs }: Opened) {
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
    const arbiter = new Journal(fs, dir, guard)
    return new Store(fs, dir, isBroughtUp, { arbiter, guard, packs: new PackCache() })
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
    return this.#arbiter.elsewhere?.readable()
  }

  /** Where a database is being taken over into the folder: how far that is. */
  get filling(): Filling | undefined {
    return this.#arbiter.elsewhere?.filling
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

  /** What other servers that use the same folder left in it; absent where this one alone has the folder. */
  get shared(): SharedFolder | undefined {
    return this.#arbiter.shared
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

/** How often it is looked whether another server has died, in milliseconds. */
const EVERY = 1000

/**
 * Finishes what processes of this host decided and died before it was in place, since the start of the machine: refs are moved,
 * everything is synced, the servers of the store are told where to look, and the journals removed. Several servers may do it at
 * once. Answers whether there was such a process. (Those of before the machine's start are for recoverJournals.)
 */
export async function recoverForDeadServers(fs: Fs, store: string): Promise<boolean> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  let hasDied = false
  for (const name of fs.readDir(folder) ?? []) {
    const owner = parseIdentity(name)
    if (!owner || !isDeadSinceBoot(owner)) continue
    if (!hasDied) await syncJournalNames(fs, store)
    hasDied = true
    const path = `${folder}/${name}`
    const records = await finishJournal(fs, store, path, owner)
    // Also what was in place already: its writer may have died before it could tell.
    announceWrites(
      fs,
      store,
      new Set(
        records.flatMap(({ writes, moved }) => [
          ...writes.map(({ repository }) => repository),
          ...(moved ? [liveFolder(moved)] : []),
        ]),
      ),
    )
    await settle(fs, store, path, records)
    const notes = records.flatMap((record) => record.notes ?? [])
    await keepNotes(fs, store, notes)
    removeJournal(fs, path)
  }
  return hasDied
}

async function settle(fs: Fs, store: string, path: string, records: readonly JournalRecord[]): Promise<void> {
  try {
    await checkpointJournal(fs, store, records)
  } catch (error) {
    // Another server may have settled and removed it just now.
    if (fs.stat(path)) throw error
  }
}

/**
 * Does so every second, and then what `afterwards` does if somebody had died, until the function it answers is called, which
 * resolves when nothing of it is under way any more.
 */
function keepRecovering(fs: Fs, store: string, afterwards: () => void): () => Promise<void> {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  const look = async (): Promise<void> => {
    try {
      if ((await recoverForDeadServers(fs, store)) && !isStopped) afterwards()
    } catch {
      // The disk fails, or somebody locks a repository: the journal stays, and the next look tries again.
    }
    again()
  }
  const again = (): void => {
    if (!isStopped) timer = setTimeout(() => (looking = look()), EVERY).unref()
  }
  again()
  return () => {
    isStopped = true
    clearTimeout(timer)
    return looking
  }
}

/** A journal of another host that nobody wrote to for so long (milliseconds) has no owner any more. */
const ABANDONED = 5 * 60 * 1000

/**
 * Takes care of the journals that dead processes left in a store. Where the machine has not been restarted since, everything
 * they answered for is in the page cache, and is synced; what they decided is finished. After a restart it may be gone or torn:
 * packs are put back, and refs moved on to where the journals say. Journals of live processes are left alone.
 */
async function recoverJournals(fs: Fs, store: string): Promise<void> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  const paths = (fs.readDir(folder) ?? []).map((name) => ({
    path: `${folder}/${name}`,
    owner: parseIdentity(name),
  }))
  const left = paths
    .filter(({ path, owner }) => owner && isLeft(fs, path, owner))
    .sort((a, b) => modified(fs, a.path) - modified(fs, b.path))
  if (left.length > 0) await syncJournalNames(fs, store)
  // First of all: what is written after a move is written where it led.
  await finishFolderMoves(fs, store, recordsIn(fs, left))
  const torn = left.filter(({ owner }) => !isThisStart(owner))
  for (const journal of torn) {
    if (journal.owner) restoreCreations(fs, store, journal.owner, recordsIn(fs, [journal]))
  }
  // In the order in which they happened, as far as their processes shared a clock.
  const starts = new Map<string, JournalRecord[]>()
  for (const { path, owner } of left) {
    const boot = owner?.boot ?? ''
    const records =
      owner && isThisStart(owner)
        ? await finishJournal(fs, store, path, owner)
        : await restorePacksOf(fs, store, path)
    starts.set(boot, [...(starts.get(boot) ?? []), ...records])
  }
  const records = [...starts.values()].flatMap((start) => start.sort((a, b) => a.at - b.at))
  const writes = writesIn(fs, store, records)
  if (torn.length > 0) await restoreRefs(fs, store, writes)
  await syncFolderMoves(fs, store, records)
  await syncPublished(fs, store, writes)
  const notes = records.flatMap((record) => record.notes ?? [])
  await keepNotes(fs, store, notes)
  for (const { path } of left) removeJournal(fs, path)
}

/** What these journals hold, in the order in which it was decided. */
function recordsIn(fs: Fs, journals: readonly { readonly path: string }[]): JournalRecord[] {
  const records = journals.flatMap(({ path }) => decodeJournal(fs.readFile(path) ?? Buffer.alloc(0)))
  return records.sort((a, b) => a.at - b.at)
}

/** Puts back what a journal of before the machine's restart holds of packs; answers its records. */
async function restorePacksOf(fs: Fs, store: string, path: string): Promise<readonly JournalRecord[]> {
  const records = decodeJournal(fs.readFile(path) ?? Buffer.alloc(0))
  await restorePacks(fs, store, writesIn(fs, store, records))
  return records
}

/** Whether the machine was not restarted since. */
function isThisStart(owner: ProcessIdentity | undefined): boolean {
  return owner?.boot === thisProcess().boot
}

function isLeft(fs: Fs, path: string, owner: ProcessIdentity): boolean {
  return isDead(owner) || (owner.host !== thisProcess().host && Date.now() - modified(fs, path) > ABANDONED)
}

function modified(fs: Fs, path: string): number {
  return fs.stat(path)?.modified ?? 0
}
