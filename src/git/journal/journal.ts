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

/** Milliseconds after which records are settled: what they refer to is synced in its own place. */
const CHECKPOINT_AFTER_MS = 1000
/** Milliseconds between two looks whether a missing store is back. */
const AWAY_MS = 100
/** Milliseconds between two looks whether journals have settled a repository's records. */
const SETTLE_PATIENCE_MS = 10_000
/** A journal of more bytes is settled at once. */
const LARGE = 16 * 1024 * 1024

/** The guard for a folder that is used only briefly: it never refuses. */
const ALWAYS_THERE: Pick<StoreGuard, 'assertStillThere' | 'problem'> = {
  assertStillThere: () => undefined,
  problem: undefined,
}

const self = identityName(thisProcess())
let files = 0
let records = 0
let rounds = 0

/**
 * The redo journal of one server process, which decides writes for servers that share a folder; git's locks put these writes in order. A write is
 * committed once its record is on the disk: one append and one sync, shared by all waiting writes, in place of three rounds of syncs of new files
 * and their folders. Then packs and refs are put in place without a sync, so git sees them before the client gets its answer. A second later they
 * are synced in the background, and the journal is begun again. Its blocks are already allocated, so a sync writes only bytes, which takes half
 * the time. After a power cut, the next start repeats missing writes from the journal (see recoverJournals).
 */
export class Journal implements Arbiter, SharedFolder {
  /** The journal itself decides. */
  readonly shared = this
  readonly #fs: Fs
  readonly #store: string
  readonly #folder: string
  readonly #guard: Pick<StoreGuard, 'assertStillThere' | 'problem'>
  /** The file to which records are written. */
  #file: JournalFile | undefined
  /** A settled file, which will be written again from its beginning. */
  #spare: JournalFile | undefined
  /** Files with records that are not settled yet. */
  readonly #unsettled = new Set<JournalFile>()
  #waiting: JournalEntry[] = []
  #isWriting = false
  /** Whether the name of the journals' folder is on the disk. */
  #isFolderNamed = false
  #timer: NodeJS.Timeout | undefined
  #checkpoints: Promise<void> = Promise.resolve()
  /** Repositories whose records stay for the next start, because the disk failed. */
  readonly #left = new Map<string, unknown>()
  #isClosing = false

  /** `fs` without the guard: it completes the store before anybody may use it again. */
  constructor(fs: Fs, store: string, guard: Pick<StoreGuard, 'assertStillThere' | 'problem'> = ALWAYS_THERE) {
    this.#fs = fs
    this.#store = store
    this.#folder = `${store}/${JOURNAL_FOLDER}`
    this.#guard = guard
  }

  /** Leaves out claims and large packs: names are claimed under the lock of their project, and large packs are already on the disk. */
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
        // The record is on the disk, but the store is gone. So it has to be withdrawn.
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

  /** The name of a new file, and the name of its folder, which may be new as well. */
  async #syncNameOf(file: JournalFile): Promise<void> {
    if (!this.#isFolderNamed) await createDurableFolder(this.#fs, this.#folder)
    this.#isFolderNamed = true
    await this.#fs.syncDir(this.#folder)
    file.isNamed = true
  }

  #fail(batch: readonly JournalEntry[], error: unknown): void {
    batch[0]?.file?.takeBack(batch)
    // Part of the batch may be in the file; no record may follow it.
    if (this.#file) this.#file.isBroken = true
    void this.checkpoint()
    for (const { reject } of batch) reject(error)
  }

  /** Settles all records: syncs everything they refer to, and drops them. */
  checkpoint(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const file = this.#file
    this.#file = undefined
    if (file) this.#checkpoints = this.#settle(file, this.#checkpoints)
    return this.#checkpoints
  }

  /** Runs after the previous one. On a slow disk one long settlement is better than a queue of them. */
  readonly #checkpointInTurn = async (): Promise<void> => {
    await this.#checkpoints
    await this.checkpoint()
  }

  async #settle(file: JournalFile, before: Promise<void>): Promise<void> {
    await before
    // Refs whose record is on the disk move within microseconds, or in the next round of the event loop.
    while (file.pending.size > 0) await pause(1)
    const entries = [...file.entries]
    try {
      do {
        // While the store is missing, nothing can be settled.
        while (this.#guard.problem && !this.#isClosing) await pause(AWAY_MS, undefined, { ref: false })
        this.#guard.assertStillThere()
        await checkpointJournal(this.#fs, this.#store, entries)
        if (file.hasNotes) await this.#keepNotes(entries)
      } while (this.#guard.problem)
      if (file.hasKept || this.#left.size > 0) await this.#keepLeft(entries)
      const isThere = this.#fs.stat(file.path) !== undefined
      if (isThere && !file.isBroken && !this.#spare) {
        // The journal ends before its first record, so that a settled write is not repeated after its refs have moved on.
        file.log.rewind()
        file.log.append(JOURNAL_END)
        await file.log.sync()
        file.log.rewind()
        this.#spare = file
      } else this.#fs.remove(file.path)
    } catch (error) {
      this.#leave(entries, error) // The disk fails. The record stays for the next start, and the next write reports the failure.
    } finally {
      this.#unsettled.delete(file)
      if (this.#spare !== file) file.close()
    }
  }

  /** Only if nothing else recorded the decision. A file that was renamed into the folder may have. */
  async #keepNotes(entries: readonly JournalEntry[]): Promise<void> {
    const notes = entries.flatMap((entry) => entry.decisionNotes)
    const pathOf = ({ path }: DecisionNote): string => path
    const needed = notes.filter(({ isNeeded }) => isNeeded())
    await keepNotes(this.#fs, this.#store, needed.map(pathOf))
    await syncFolders(this.#fs, this.#store, notes.map(pathOf))
  }

  /**
   * Moves records into a file of their own, for the next start: those of incomplete writes, and all later ones of the same repositories. Without
   * the later ones, the start would set the repository back to the earlier ones.
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

  /** Completes the decided writes of a dead process. */
  readonly finishFor = async (dead: string): Promise<void> => {
    const owner = parseIdentity(dead)
    if (!owner) return
    const names = journalsOf(this.#fs, this.#store, owner)
    if (names.length > 0) await syncJournalNames(this.#fs, this.#store)
    for (const name of names) await finishJournal(this.#fs, this.#store, `${this.#folder}/${name}`, owner)
  }

  /** The records in all journals of the store, of living and dead processes, that are not settled. */
  notes(): readonly string[] {
    return recordsOf(this.#fs, this.#store).flatMap(({ notes = [] }) => notes)
  }

  /** Resolves once no journal has a record that the repository was made, and none can come back; see `SharedFolder.untilSettled`. */
  async untilSettled(gitdir: string): Promise<void> {
    const repository = gitdir.slice(this.#store.length + 1)
    if (isMadeInJournal(this.#fs, this.#store, repository)) await this.#checkpointUntilSettled(repository)
    // A removed journal comes back after a power cut, unless its folder was synced after the removal.
    if (this.#fs.stat(this.#folder)) await this.#fs.syncDir(this.#folder)
  }

  async #checkpointUntilSettled(repository: string): Promise<void> {
    await this.checkpoint()
    // Other servers settle their journals within seconds, and journals of dead servers are settled by living ones.
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
   * Repeats the writes that are not settled. It is for a store that was missing and is back: it may have lost writes that were not synced. Call it
   * before anybody uses the store.
   */
  async afterReturn(): Promise<void> {
    for (const file of this.#unsettled) {
      // Writes that were under way end by themselves, and withdraw their records if necessary.
      while (file.pending.size > 0) await pause(1)
      file.isBroken = true
      const told = decodeJournal(this.#fs.readFile(file.path) ?? Buffer.alloc(0))
      await finishFolderMoves(this.#fs, this.#store, told)
      restoreCreations(this.#fs, this.#store, thisProcess(), told)
      await redoWrites(this.#fs, this.#store, told)
    }
    // It may be a file of a disk that is gone.
    this.#removeSpare()
  }

  /** Settles everything after the last write, and removes the journal. If the store is missing, the journal stays, and the next start finds it. */
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

/** One use of a journal file: from its first record until all its records are settled. Then the file is used again, as another JournalFile. */
class JournalFile {
  readonly path: string
  readonly log: LogHandle
  /** A number that is unique to this use of the file. */
  readonly round: number
  /** Whether the file's name is on the disk. */
  isNamed: boolean
  /** The number of bytes that were written to it. */
  size = 0
  /** Whether a write to it failed, or its disk may be gone. Then nothing more may be written to it. */
  isBroken = false
  /** Records that were written and not withdrawn … */
  readonly entries = new Set<JournalEntry>()
  /** … those whose refs and packs may not be in place yet … */
  readonly pending = new Set<JournalEntry>()
  /** … and whether one is only partly in place. */
  hasKept = false
  /** Whether a write still has to leave a note. */
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

  /** Bytes that were appended may be on the disk even if the sync failed. So this record may be, too. */
  takeBack(batch: readonly JournalEntry[]): void {
    this.isBroken = true
    for (const entry of batch) this.forget(entry)
    try {
      this.log.append(Buffer.concat(batch.map(encodeWithdrawal)))
    } catch {
      // Maybe no record of the batch was written.
    }
  }

  forget(entry: JournalEntry): void {
    this.entries.delete(entry)
    this.pending.delete(entry)
  }

  /** Nobody waits for it any more, and its failure must not fail anything else. */
  close(): void {
    try {
      this.log.close()
    } catch {
      // See above.
    }
  }
}

/** The state of a record in a file, until it is settled. */
class JournalEntry implements JournalRecord, Decision {
  readonly id = ++records
  readonly at = Number(process.hrtime.bigint() / 1000n)
  readonly writes: readonly JournalWrite[]
  readonly notes: readonly string[]
  readonly moved: FolderMove | undefined
  readonly decisionNotes: readonly DecisionNote[]
  readonly resolve: (decision: Decision) => void
  readonly reject: (error: unknown) => void
  /** The file, and its round, to which it was written. */
  file: JournalFile | undefined
  round = 0
  /** Only a part of its refs and packs is in place. */
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

  /** It goes into the same file, which waits for it; a later file may be settled later. */
  async withdraw(): Promise<void> {
    try {
      this.file?.log.append(encodeWithdrawal(this))
      await this.file?.log.sync()
    } catch {
      // The disk fails completely. The endpoint answers that the write may or may not have happened.
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
