import {
  createDurableFolder,
  type Fs,
  guardedFs,
  StoreGuard,
  isDeadSinceBoot,
  parseIdentity,
  type ProcessIdentity,
  isDead,
  type Liveness,
  announceProcess,
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
  /** The file system of the store; refuses everything while the store is not where it was opened. */
  readonly fs: Fs
  readonly dir: string
  readonly guard: StoreGuard
  /** Whether opening upgraded it from the previous layout. */
  readonly isBroughtUp: boolean
  /** Why nothing could be written to it when it was opened, in a sentence. */
  readonly problem: string | undefined
  readonly #packs: PackCache
  readonly #arbiter: Arbiter
  readonly #liveness: Liveness

  constructor(fs: Fs, dir: string, isBroughtUp: boolean, { arbiter, guard, packs, liveness }: Opened) {
    this.isBroughtUp = isBroughtUp
    this.guard = guard
    this.fs = guardedFs(fs, this.guard)
    this.dir = dir
    this.#packs = packs
    this.#arbiter = arbiter
    this.#liveness = liveness
    this.problem = liveness.problem
    this.guard.onReturn(async () => {
      this.#liveness.renew()
      await this.#arbiter.afterReturn()
      // Open packs may be on a disk that is gone.
      this.#packs.close()
    })
  }

  /** Opens the store at `dir`, or creates an empty one. Refuses an unknown layout, and a copy of a database. */
  static async open(fs: Fs, dir: string): Promise<Store> {
    refuseCopy(fs, dir)
    await makeStore(fs, dir)
    const liveness = await announceProcess(fs, dir)
    try {
      await recoverJournals(fs, dir)
      const isBroughtUp = await bringUp(fs, dir)
      // Earlier versions of the server kept spare empty files here.
      fs.removeTree(`${dir}/.spare`)
      const guard = new StoreGuard(fs, `${dir}/format`)
      const arbiter = new Journal(fs, dir, guard)
      return new Store(fs, dir, isBroughtUp, { arbiter, guard, packs: new PackCache(), liveness })
    } catch (error) {
      liveness.release()
      throw error
    }
  }

  /** Syncs data that is only in the journal, and drops the journal; closes every pack. Call it after the last write and the last read. */
  async close(): Promise<void> {
    await this.#arbiter.close()
    this.#packs.close()
    this.guard.close()
    this.#liveness.release()
  }

  /**
   * Resolves once everything acknowledged before the call can be read here; if servers share a log, as `READS` requires, and then it
   * answers how fresh the data is. Refuses while the store is missing.
   */
  async fresh(): Promise<Freshness | undefined> {
    this.guard.assertThere()
    return this.#arbiter.elsewhere?.readable()
  }

  /** The progress of copying a database into the folder, if that is not done. */
  get filling(): Filling | undefined {
    return this.#arbiter.elsewhere?.filling
  }

  /** Syncs data that is only in the journal to its final place. */
  checkpoint(): Promise<void> {
    return this.#arbiter.checkpoint()
  }

  /**
   * Closes, at this interval (milliseconds), packs that maintenance, consolidation or git has removed: constant readers would keep them
   * open, and their space on the disk in use. Answers a function that stops it.
   */
  keepRemovedClosed(every = 30_000): () => void {
    const timer = setInterval(() => this.#packs.closeRemoved(this.fs), every).unref()
    return () => clearInterval(timer)
  }

  /** The files of other servers that use the same folder; absent if only this server has the folder. */
  get shared(): SharedFolder | undefined {
    return this.#arbiter.shared
  }

  /**
   * Publishes, every second, the decided writes of servers that died, and then calls `afterwards`; see recoverForDeadServers. Answers a
   * function that stops it.
   */
  keepFinishing(afterwards: () => void): () => Promise<void> {
    return keepRecovering(this.fs, this.dir, afterwards)
  }

  /** The names of the store's projects. */
  projects(): string[] {
    const names = this.fs.readDir(this.dir) ?? []
    return names.filter(
      (name) => !name.startsWith('.') && this.fs.stat(`${this.dir}/${name}`)?.kind === 'folder',
    )
  }

  /** One project's folder, created if it does not exist. */
  async project(name: string): Promise<ProjectStore> {
    const folder = `${this.dir}/${name}`
    await createDurableFolder(this.fs, folder)
    return new ProjectStore(this.fs, folder, this.#packs, this.#arbiter)
  }
}

/** The parts of an open store. */
interface Opened {
  readonly arbiter: Arbiter
  readonly guard: StoreGuard
  readonly packs: PackCache
  readonly liveness: Liveness
}

/** Milliseconds between two searches for dead servers. */
const EVERY = 1000

/**
 * Publishes the decided writes of processes that died since the machine started: moves refs, syncs everything, notifies the
 * servers of the store, and removes the journals. Several servers may do this at once. Answers whether there was such a process. (For
 * processes from before the machine's start see recoverJournals.)
 */
export async function recoverForDeadServers(fs: Fs, store: string): Promise<boolean> {
  const folder = `${store}/${JOURNAL_FOLDER}`
  let hasDied = false
  for (const name of fs.readDir(folder) ?? []) {
    const owner = parseIdentity(name)
    if (!owner || !isDeadSinceBoot(owner, store)) continue
    if (!hasDied) await syncJournalNames(fs, store)
    hasDied = true
    const path = `${folder}/${name}`
    const records = await finishJournal(fs, store, path, owner)
    // Also for writes that were already published: their process may have died before the notification.
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
    // Another server may have finished and removed the journal just now.
    if (fs.stat(path)) throw error
  }
}

/**
 * Calls recoverForDeadServers every second, and `afterwards` if a process had died. Answers a function that stops this, and resolves when
 * no work is left.
 */
function keepRecovering(fs: Fs, store: string, afterwards: () => void): () => Promise<void> {
  let isStopped = false
  let timer: NodeJS.Timeout | undefined
  let looking = Promise.resolve()
  const look = async (): Promise<void> => {
    try {
      if ((await recoverForDeadServers(fs, store)) && !isStopped) afterwards()
    } catch {
      // The disk fails, or another process holds a lock: the journal stays, and the next attempt tries again.
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

/** After this time without writes (milliseconds), the owner of a journal that an earlier version wrote on another host counts as dead. */
const ABANDONED = 5 * 60 * 1000

/**
 * Recovers the journals of dead processes in a store. If the machine was not restarted since, all their data is in the page cache: it is
 * synced, and their decided writes are published. After a restart data may be lost or torn: packs are written again, and refs moved to the
 * journals' values. Journals of live processes are not touched.
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
  // This comes first, because later writes belong to the folder's new place.
  await finishFolderMoves(fs, store, recordsIn(fs, left))
  const torn = left.filter(({ owner }) => !isThisStart(owner))
  for (const journal of torn) {
    if (journal.owner) restoreCreations(fs, store, journal.owner, recordsIn(fs, [journal]))
  }
  // In the order in which they happened, if their processes shared a clock.
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

/** The records of these journals, in the order of their decisions. */
function recordsIn(fs: Fs, journals: readonly { readonly path: string }[]): JournalRecord[] {
  const records = journals.flatMap(({ path }) => decodeJournal(fs.readFile(path) ?? Buffer.alloc(0)))
  return records.sort((a, b) => a.at - b.at)
}

/** Writes the packs in a journal from before the machine's restart again; answers its records. */
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
  if (isDead(owner, path)) return true
  // Of an earlier version, which holds no lock that would tell.
  return (
    owner.id === undefined && owner.host !== thisProcess().host && Date.now() - modified(fs, path) > ABANDONED
  )
}

function modified(fs: Fs, path: string): number {
  return fs.stat(path)?.modified ?? 0
}
