import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import {
  createDurableFolder,
  type Fs,
  type LogHandle,
  identityName,
  parseIdentity,
  thisProcess,
  type StoreGuard,
} from '../../storage/files.ts'
import {
  type Arbiter,
  type DecidedBeside,
  type DecidedWrite,
  type Decision,
  type DecisionNote,
  DECIDED_BY_RENAME,
  type SharedFolder,
} from '../transactions/arbiter.ts'
import type { FolderMove } from '../trash/folder-move.ts'
import { finishFolderMoves, finishJournal, redoWrites, restoreCreations } from './finish-journal.ts'
import {
  JOURNAL_END,
  JOURNAL_FOLDER,
  type JournalRecord,
  type JournalWrite,
  checkpointJournal,
  decodeJournal,
  encodeRecord,
  encodeWithdrawal,
  isMadeInJournal,
  journalsOf,
  keepNotes,
  recordsOf,
  syncFolders,
  syncJournalNames,
} from './journal-record.ts'

/** How long records wait, in milliseconds, until what they tell of is synced where it belongs. */
const CHECKPOINT_AFTER_MS = 1000
/** How long is waited, in milliseconds, until it is asked again whether a store is back. */
const AWAY_MS = 100
/** How long is waited, in milliseconds, until journals have forgotten a repository. */
const SETTLE_PATIENCE_MS = 10_000
/** A journal larger than this is not waited for. */
const LARGE = 16 * 1024 * 1024

/** Of who has a folder for a moment. */
const ALWAYS_THERE: Pick<StoreGuard, 'assertStillThere' | 'problem'> = {
  assertStillThere: () => undefined,
  problem: undefined,
}

const self = identityName(thisProcess())
let files = 0
let records = 0
let rounds = 0

/**
 * Decides for servers that share a folder, whose writes git's locks put in order: the redo journal of one server process. A write is on
 * the disk once its record is: one append and one sync, shared by all writes that wait at that moment, in place of three rounds of syncs
 * of new files and their folders. Packs and refs are then put in place without waiting, so git sees them before the write is answered. A
 * second later they are synced in the background and the journal is begun again: its blocks are there already, so that a sync has nothing
 * but bytes to write, which takes half the time. What a power cut leaves of them before is done again from the journal at the next start
 * (see recoverJournals).
 */
export class Journal implements Arbiter, SharedFolder {
  /** It is all of that itself. */
  readonly shared = this
  readonly #fs: Fs
  readonly #store: string
  readonly #folder: string
  readonly #guard: Pick<StoreGuard, 'assertStillThere' | 'problem'>
  /** The file that records go to. */
  #file: JournalFile | undefined
  /** A settled file, to be written again. */
  #spare: JournalFile | undefined
  /** Files with records that are not settled yet. */
  readonly #unsettled = new Set<JournalFile>()
  #waiting: JournalEntry[] = []
  #isWriting = false
  /** Whether the folder's name in the store is on the disk. */
  #isFolderNamed = false
  #timer: NodeJS.Timeout | undefined
  #checkpoints: Promise<void> = Promise.resolve()
  /** Repositories of which records stay for the next start, since the disk failed. */
  readonly #left = new Map<string, unknown>()
  #isClosing = false

  /** `fs` is not guarded: what the store has to have done before anybody may use it again goes through here. */
  constructor(fs: Fs, store: string, guard: Pick<StoreGuard, 'assertStillThere' | 'problem'> = ALWAYS_THERE) {
    this.#fs = fs
    this.#store = store
    this.#folder = `${store}/${JOURNAL_FOLDER}`
    this.#guard = guard
  }

  /** Leaves claims and large packs out: names are claimed under the lock of their project, and large packs are on the disk. */
  decide(writes: readonly DecidedWrite[], beside: DecidedBeside = {}): Promise<Decision> {
    if (beside.purged !== undefined) return Promise.resolve(DECIDED_BY_RENAME)
    const repositoryOf = (gitdir: string): string => gitdir.slice(this.#store.length + 1)
    const told = writes.map(({ gitdir, ...write }): JournalWrite => ({
      ...write,
      repository: repositoryOf(gitdir),
    }))
    return new Promise((resolve, reject) => {
      this.#waiting.push(new JournalEntry(told, beside, resolve, reject))
      if (!this.#isWriting) void this.#write()
    })
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0)
      try {
        this.#guard.assertStillThere()
        const file = (this.#file ??= this.#begin())
        file.append(batch)
        await file.log.sync()
        if (!file.isNamed) await this.#syncNameOf(file)
        // On the disk, and of no store any more: then it has to be taken back.
        this.#guard.assertStillThere()
        for (const entry of batch) entry.resolve(entry)
        if (file.size > LARGE) void this.checkpoint()
        else this.#timer ??= setTimeout(this.#checkpointInTurn, CHECKPOINT_AFTER_MS).unref()
      } catch (error) {
        this.#fail(batch, error)
      }
    }
    this.#isWriting = false
  }

  #begin(): JournalFile {
    if (!this.#fs.stat(this.#folder)) this.#fs.makeDir(this.#folder)
    const spare = this.#spare
    this.#spare = undefined
    const path = spare?.path ?? `${this.#folder}/${self}.${++files}`
    const file = new JournalFile(path, spare?.log ?? this.#fs.createLog(path), ++rounds, spare !== undefined)
    this.#unsettled.add(file)
    return file
  }

  /** Of a file that is new; the folder's own name, too, which may be new as well. */
  async #syncNameOf(file: JournalFile): Promise<void> {
    if (!this.#isFolderNamed) await createDurableFolder(this.#fs, this.#folder)
    this.#isFolderNamed = true
    await this.#fs.syncDir(this.#folder)
    file.isNamed = true
  }

  #fail(batch: readonly JournalEntry[], error: unknown): void {
    batch[0]?.file?.takeBack(batch)
    // What reached the file, if anything, must not be followed by more.
    if (this.#file) this.#file.isBroken = true
    void this.checkpoint()
    for (const { reject } of batch) reject(error)
  }

  /** Syncs everything the journal tells of, and drops it. */
  checkpoint(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const file = this.#file
    this.#file = undefined
    if (file) this.#checkpoints = this.#settle(file, this.#checkpoints)
    return this.#checkpoints
  }

  /** The same once the last one is over: on a slow disk more is synced at once, rather than one journal behind another. */
  readonly #checkpointInTurn = async (): Promise<void> => {
    await this.#checkpoints
    await this.checkpoint()
  }

  async #settle(file: JournalFile, before: Promise<void>): Promise<void> {
    await before
    // Refs whose record is on the disk are about to move: a few microseconds, or one round of the loop.
    while (file.pending.size > 0) await pause(1)
    const entries = [...file.entries]
    try {
      do {
        // What it tells of cannot be synced where it is not.
        while (this.#guard.problem && !this.#isClosing) await pause(AWAY_MS, undefined, { ref: false })
        this.#guard.assertStillThere()
        await checkpointJournal(this.#fs, this.#store, entries)
        if (file.hasNotes) await this.#keepNotes(entries)
      } while (this.#guard.problem)
      if (file.hasKept || this.#left.size > 0) await this.#keepLeft(entries)
      const isThere = this.#fs.stat(file.path) !== undefined
      if (isThere && !file.isBroken && !this.#spare) {
        // Ended before its first record: what is settled must not be done again when refs have moved on since.
        file.log.rewind()
        file.log.append(JOURNAL_END)
        await file.log.sync()
        file.log.rewind()
        this.#spare = file
      } else this.#fs.remove(file.path)
    } catch (error) {
      this.#leave(entries, error) // the disk fails: it stays for the next start, and the next write will say so
    } finally {
      this.#unsettled.delete(file)
      if (this.#spare !== file) file.close()
    }
  }

  /** Where nothing else says so by now. What else says so may be a file that was renamed into their folder. */
  async #keepNotes(entries: readonly JournalEntry[]): Promise<void> {
    const notes = entries.flatMap((entry) => entry.decisionNotes)
    const pathOf = ({ path }: DecisionNote): string => path
    const needed = notes.filter(({ isNeeded }) => isNeeded())
    await keepNotes(this.#fs, this.#store, needed.map(pathOf))
    await syncFolders(this.#fs, this.#store, notes.map(pathOf))
  }

  /**
   * Keeps for the next start what is in place only in part, and whatever was written to a repository of which earlier records stay, too, in a
   * file of its own. Without it the start would leave the repository as those say, and undo this.
   */
  async #keepLeft(entries: readonly JournalEntry[]): Promise<void> {
    const kept = entries.filter(
      ({ isKept, writes }) => isKept || writes.some(({ repository }) => this.#left.has(repository)),
    )
    if (kept.length === 0) return
    this.#leave(kept)
    await this.#fs.createSynced(`${this.#folder}/${self}.${++files}`, Buffer.concat(kept.map(encodeRecord)))
    await this.#fs.syncDir(this.#folder)
  }

  #leave(entries: readonly JournalEntry[], error?: unknown): void {
    for (const { writes } of entries) for (const { repository } of writes) this.#left.set(repository, error)
  }

  /** Finishes what a dead process decided to write. */
  readonly finishFor = async (dead: string): Promise<void> => {
    const owner = parseIdentity(dead)
    if (!owner) return
    const names = journalsOf(this.#fs, this.#store, owner)
    if (names.length > 0) await syncJournalNames(this.#fs, this.#store)
    for (const name of names) await finishJournal(this.#fs, this.#store, `${this.#folder}/${name}`, owner)
  }

  /** What journals of the store, living processes' and dead ones', have noted and not forgotten yet. */
  notes(): readonly string[] {
    return recordsOf(this.#fs, this.#store).flatMap(({ notes = [] }) => notes)
  }

  /**
   * Resolves once no journal of the store tells that the repository was made, and none that did can come back; see `SharedFolder.untilSettled`.
   */
  async untilSettled(gitdir: string): Promise<void> {
    const repository = gitdir.slice(this.#store.length + 1)
    if (isMadeInJournal(this.#fs, this.#store, repository)) await this.#checkpointUntilSettled(repository)
    // A journal that was removed is there again after a power cut, unless its folder was synced since.
    if (this.#fs.stat(this.#folder)) await this.#fs.syncDir(this.#folder)
  }

  async #checkpointUntilSettled(repository: string): Promise<void> {
    await this.checkpoint()
    // Other servers settle theirs within seconds, and so do the heirs of dead ones.
    const deadline = Date.now() + SETTLE_PATIENCE_MS
    for (; isMadeInJournal(this.#fs, this.#store, repository); await pause(20)) {
      // Its record stays until the next start.
      const failure = this.#left.get(repository)
      if (failure !== undefined) throw failure
      if (Date.now() < deadline) continue
      throw new Refusal(
        'locked',
        `${repository} was made a moment ago, and is not settled on the disk yet. Try again in a moment.`,
      )
    }
  }

  /**
   * Does again what it tells of and is not settled: for a store that is back, and may have lost what was not synced when it went. To be
   * called before anybody uses the store.
   */
  async afterReturn(): Promise<void> {
    for (const file of this.#unsettled) {
      // What was under way then ends by itself, and takes its record back if it must.
      while (file.pending.size > 0) await pause(1)
      file.isBroken = true
      const told = decodeJournal(this.#fs.readFile(file.path) ?? Buffer.alloc(0))
      await finishFolderMoves(this.#fs, this.#store, told)
      restoreCreations(this.#fs, this.#store, thisProcess(), told)
      await redoWrites(this.#fs, this.#store, told)
    }
    // It may be a file of a disk that is no more.
    this.#removeSpare()
  }

  /**
   * The same as `checkpoint`, after the last write; nothing of the journal is left in the store. Where that is gone, it stays, and the next
   * start finds it.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.checkpoint()
    if (!this.#guard.problem) this.#removeSpare()
  }

  #removeSpare(): void {
    const spare = this.#spare
    this.#spare = undefined
    spare?.close()
    if (spare) this.#fs.remove(spare.path)
  }
}

/** A file of a journal, from its beginning until nothing in it is needed any more: then it is written over, as another one. */
class JournalFile {
  readonly path: string
  readonly log: LogHandle
  /** A number that no other has, of what is written to it now. */
  readonly round: number
  /** Whether its name in the folder is on the disk. */
  isNamed: boolean
  /** Bytes that were written to it. */
  size = 0
  /** A write of it failed, or what it is on may be no more: it must not be written again. */
  isBroken = false
  /** What was written and not withdrawn … */
  readonly entries = new Set<JournalEntry>()
  /** … of these what may not be in place yet … */
  readonly pending = new Set<JournalEntry>()
  /** … and whether one is in place only in part. */
  hasKept = false
  /** Whether a write has a note to leave. */
  hasNotes = false

  constructor(path: string, log: LogHandle, round: number, isNamed: boolean) {
    this.path = path
    this.log = log
    this.round = round
    this.isNamed = isNamed
  }

  append(batch: readonly JournalEntry[]): void {
    const records: Buffer[] = []
    for (const entry of batch) {
      entry.file = this
      entry.round = this.round
      this.entries.add(entry)
      this.pending.add(entry)
      if (entry.notes.length > 0) this.hasNotes = true
      records.push(encodeRecord(entry))
    }
    const bytes = Buffer.concat(records)
    this.log.append(bytes)
    this.size += bytes.length
  }

  /** What was appended and could not be synced may be on the disk all the same; so is this, then. */
  takeBack(batch: readonly JournalEntry[]): void {
    this.isBroken = true
    for (const entry of batch) this.forget(entry)
    try {
      this.log.append(Buffer.concat(batch.map(encodeWithdrawal)))
    } catch {
      // Nothing of the batch may have been appended either.
    }
  }

  forget(entry: JournalEntry): void {
    this.entries.delete(entry)
    this.pending.delete(entry)
  }

  /** Nothing is asked of it any more, and nobody must fail for it. */
  close(): void {
    try {
      this.log.close()
    } catch {
      // See above.
    }
  }
}

/** A record on its way through a file, until what it tells of is settled. */
class JournalEntry implements JournalRecord, Decision {
  readonly id = ++records
  readonly at = Number(process.hrtime.bigint() / 1000n)
  readonly writes: readonly JournalWrite[]
  readonly notes: readonly string[]
  readonly moved: FolderMove | undefined
  readonly decisionNotes: readonly DecisionNote[]
  readonly resolve: (decision: Decision) => void
  readonly reject: (error: unknown) => void
  /** The file that it was written to, and its round then. */
  file: JournalFile | undefined
  round = 0
  /** What it tells of is in place only in part. */
  isKept = false

  constructor(
    writes: readonly JournalWrite[],
    { notes = [], moved }: DecidedBeside,
    resolve: (decision: Decision) => void,
    reject: (error: unknown) => void,
  ) {
    this.writes = writes
    this.notes = notes.map(({ path }) => path)
    this.moved = moved
    this.decisionNotes = notes
    this.resolve = resolve
    this.reject = reject
  }

  complete(): void {
    this.file?.pending.delete(this)
  }

  /** Into the same file, which waits for it: a later one may outlive it. */
  async withdraw(): Promise<void> {
    try {
      this.file?.log.append(encodeWithdrawal(this))
      await this.file?.log.sync()
    } catch {
      // The disk fails all the way; the door says that the write may be there or not.
    } finally {
      this.file?.forget(this)
    }
  }

  keep(): boolean {
    this.isKept = this.file?.pending.delete(this) === true
    if (this.file && this.isKept) this.file.hasKept = true
    return this.isKept
  }
}
