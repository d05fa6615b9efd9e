import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { createDurableFolder } from '../../storage/durable-folder.ts'
import type { Fs } from '../../storage/fs.ts'
import { identityName, parseIdentity, thisProcess } from '../../storage/process-identity.ts'
import type { StoreGuard } from '../../storage/store-guard.ts'
import type { Decision, DecisionNote } from '../transactions/arbiter.ts'
import { checkpointJournal, keepNotes, syncFolders } from './checkpoint.ts'
import { finishFolderMoves, finishJournal, redoWrites, restoreCreations } from './finish-journal.ts'
import type { AppendedRecord, JournalEntry, JournalRecord } from './journal-file.ts'
import {
  JOURNAL_FOLDER,
  JournalFile,
  decodeJournal,
  encodeRecord,
  journalsOf,
  syncJournalNames,
} from './journal-file.ts'

/** How long records wait, in milliseconds, until what they tell of is synced where it belongs. */
const CHECKPOINT_AFTER = 1000
/** How long is waited, in milliseconds, until it is asked again whether a store is back. */
const AWAY = 100
/** How long is waited, in milliseconds, until journals have forgotten a repository. */
const SETTLE_PATIENCE = 10_000
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
 * The redo journal of one server process. A write is on the disk once its record is: one append and one sync, shared by all
 * writes that wait at that moment, in place of three rounds of syncs of new files and their folders. Packs and refs are then
 * put in place without waiting, so git sees them before the write is answered. A second later they are synced
 * in the background and the journal is begun again: its blocks are there already, so that a sync has nothing but bytes to
 * write, which takes half the time. What a power cut leaves of them before is done again from the journal at
 * the next start (see recoverJournals).
 */
export class Journal {
  readonly #fs: Fs
  readonly #store: string
  #file: JournalFile | undefined
  /** Settled files, to be written again. */
  readonly #spare: JournalFile[] = []
  #waiting: Waiting[] = []
  #writing = false
  /** Whether the folder's name in the store is on the disk … */
  #isFolderNamed = false
  /** … and of which files the names in the folder are. */
  readonly #named = new WeakSet<JournalFile>()
  #timer: NodeJS.Timeout | undefined
  #checkpoints: Promise<void> = Promise.resolve()
  /** Files with records that are not settled yet. */
  readonly #told = new Set<JournalFile>()
  /** Repositories of which records stay for the next start, since the disk failed. */
  readonly #left = new Set<string>()
  readonly #guard: Pick<StoreGuard, 'assertStillThere' | 'problem'>
  #isClosing = false

  /** `fs` is not guarded: what the store has to have done before anybody may use it again goes through here. */
  constructor(fs: Fs, store: string, guard: Pick<StoreGuard, 'assertStillThere' | 'problem'> = ALWAYS_THERE) {
    this.#fs = fs
    this.#store = store
    this.#guard = guard
  }

  /** Resolves when the record is on the disk; rejects if it cannot be, and then nothing of it happened; see `Arbiter.decide`. */
  append(what: Omit<AppendedRecord, 'id' | 'at'>): Promise<Decision> {
    const record = { id: ++records, at: Number(process.hrtime.bigint() / 1000n), ...what }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject })
      if (!this.#writing) void this.#write()
    })
  }

  /** Finishes what a dead process decided to write; see `Arbiter.finishFor`. */
  async finishFor(dead: string): Promise<void> {
    const owner = parseIdentity(dead)
    if (!owner) return
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    const names = journalsOf(this.#fs, this.#store, owner)
    if (names.length > 0) await syncJournalNames(this.#fs, this.#store)
    for (const name of names) await finishJournal(this.#fs, this.#store, `${folder}/${name}`, owner)
  }

  /** What journals of the store, living processes' and dead ones', have noted and not forgotten yet. */
  notes(): readonly string[] {
    return this.#journals().flatMap(({ notes = [] }) => notes)
  }

  /**
   * Resolves once no journal of the store tells that the repository was made, and none that did can come back; see `Arbiter.untilSettled`.
   */
  async untilSettled(repository: string): Promise<void> {
    if (this.#isMadeIn(repository)) await this.#checkpointUntilSettled(repository)
    // A journal that was removed is there again after a power cut, unless its folder was synced since.
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (this.#fs.stat(folder)) await this.#fs.syncDir(folder)
  }

  async #checkpointUntilSettled(repository: string): Promise<void> {
    await this.checkpoint()
    // Other servers settle theirs within seconds, and so do the heirs of dead ones.
    for (const deadline = Date.now() + SETTLE_PATIENCE; this.#isMadeIn(repository); await pause(20)) {
      if (Date.now() < deadline) continue
      throw new Refusal(
        'locked',
        `${repository} was made a moment ago, and is not settled on the disk yet. Try again in a moment.`,
      )
    }
  }

  /** What the journals of the store hold, living processes' and dead ones'. */
  #journals(): JournalRecord[] {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    const names = this.#fs.readDir(folder) ?? []
    return names.flatMap((name) => decodeJournal(this.#fs.readFile(`${folder}/${name}`) ?? Buffer.alloc(0)))
  }

  /** Whether a journal tells that the repository was made. */
  #isMadeIn(repository: string): boolean {
    const isMaker = ({ writes }: JournalRecord): boolean =>
      writes.some((write) => write.created !== undefined && write.repository === repository)
    return this.#journals().some(isMaker)
  }

  /** Syncs everything the journal tells of, and drops it. */
  checkpoint(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const file = this.#file
    this.#file = undefined
    if (file) this.#checkpoints = this.#checkpoints.then(() => this.#settle(file))
    return this.#checkpoints
  }

  /** The same once the last one is over: on a slow disk more is synced at once, rather than one journal behind another. */
  async #checkpointInTurn(): Promise<void> {
    await this.#checkpoints
    await this.checkpoint()
  }

  /**
   * Does again what it tells of and is not settled: for a store that is back, and may have lost what was not synced when it went. To be
   * called before anybody uses the store.
   */
  async redo(): Promise<void> {
    for (const file of this.#told) {
      // What was under way then ends by itself, and takes its record back if it must.
      while (file.hasPending) await pause(1)
      file.isBroken = true
      const records = decodeJournal(this.#fs.readFile(file.path) ?? Buffer.alloc(0))
      await finishFolderMoves(this.#fs, this.#store, records)
      restoreCreations(this.#fs, this.#store, thisProcess(), records)
      await redoWrites(this.#fs, this.#store, records)
    }
    // They may be files of a disk that is no more.
    for (const spare of this.#spare.splice(0)) {
      spare.close()
      this.#fs.remove(spare.path)
    }
  }

  /**
   * The same after the last write; nothing of the journal is left in the store. Where that is gone, it stays, and the next start finds
   * it.
   */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.checkpoint()
    if (this.#guard.problem) return
    for (const file of this.#spare.splice(0)) {
      file.close()
      this.#fs.remove(file.path)
    }
  }

  async #write(): Promise<void> {
    this.#writing = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0)
      try {
        await this.#writeBatch(batch)
      } catch (error) {
        if (this.#file) this.#file.isBroken = true
        // What reached the file, if anything, must not be followed by more.
        void this.checkpoint()
        for (const { reject } of batch) reject(error)
      }
    }
    this.#writing = false
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    this.#guard.assertStillThere()
    const file = (this.#file ??= this.#begin())
    const appended = batch.map(({ record }) => record)
    const entries = await file.write(appended, async () => {
      if (!this.#named.has(file)) await this.#syncNameOf(file)
      // On the disk, and of no store any more: then it has to be taken back.
      this.#guard.assertStillThere()
    })
    for (const [index, entry] of entries.entries()) batch[index]?.resolve(entry)
    if (file.size > LARGE) void this.checkpoint()
    else this.#timer ??= setTimeout(() => void this.#checkpointInTurn(), CHECKPOINT_AFTER).unref()
  }

  /** Of a file that is new; the folder's own name, too, which may be new as well. */
  async #syncNameOf(file: JournalFile): Promise<void> {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (!this.#isFolderNamed) await createDurableFolder(this.#fs, folder)
    this.#isFolderNamed = true
    await this.#fs.syncDir(folder)
    this.#named.add(file)
  }

  #begin(): JournalFile {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (!this.#fs.stat(folder)) this.#fs.makeDir(folder)
    const file = this.#spare.pop() ?? new JournalFile(this.#fs, `${folder}/${self}.${++files}`)
    file.begin(++rounds)
    this.#told.add(file)
    return file
  }

  async #settle(file: JournalFile): Promise<void> {
    // Refs whose record is on the disk are about to move: a few microseconds, or one round of the loop.
    while (file.hasPending) await pause(1)
    const entries = [...file.entries]
    try {
      await this.#syncToldOf(entries)
      const left = entries.filter((entry) => this.#isLeft(entry))
      if (left.length > 0) await this.#keep(left)
      const isThere = this.#fs.stat(file.path) !== undefined
      if (isThere && !file.isBroken && this.#spare.length === 0) {
        await file.empty()
        this.#spare.push(file)
      } else this.#fs.remove(file.path)
    } catch {
      this.#leave(entries) // the disk fails: it stays for the next start, and the next write will say so
    } finally {
      this.#told.delete(file)
      if (!this.#spare.includes(file)) file.close()
    }
  }

  async #syncToldOf(entries: readonly JournalEntry[]): Promise<void> {
    const told = entries.map(({ record }) => record)
    const notes = entries.flatMap((entry) => entry.notes)
    do {
      // What it tells of cannot be synced where it is not.
      while (this.#guard.problem && !this.#isClosing) await pause(AWAY, undefined, { ref: false })
      this.#guard.assertStillThere()
      await checkpointJournal(this.#fs, this.#store, told)
      if (notes.length > 0) await this.#keepNotes(notes)
    } while (this.#guard.problem)
  }

  /** Where nothing else says so by now. What else says so may be a file that was renamed into their folder. */
  async #keepNotes(notes: readonly DecisionNote[]): Promise<void> {
    const pathOf = ({ path }: DecisionNote): string => path
    const needed = notes.filter(({ isNeeded }) => isNeeded())
    await keepNotes(this.#fs, this.#store, needed.map(pathOf))
    await syncFolders(this.#fs, this.#store, notes.map(pathOf))
  }

  /**
   * Whether the next start has to do it again: what is in place only in part, and whatever was written to a repository of which
   * earlier records stay, too. Without it the start would leave the repository as those say, and undo this.
   */
  #isLeft({ record, isKept }: JournalEntry): boolean {
    return isKept || record.writes.some(({ repository }) => this.#left.has(repository))
  }

  /** In a file of their own, which is left to the next start. */
  async #keep(kept: readonly JournalEntry[]): Promise<void> {
    this.#leave(kept)
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    const bytes = Buffer.concat(kept.map(({ record }) => encodeRecord(record)))
    await this.#fs.createSynced(`${folder}/${self}.${++files}`, bytes)
    await this.#fs.syncDir(folder)
  }

  #leave(entries: readonly JournalEntry[]): void {
    for (const { record } of entries) for (const { repository } of record.writes) this.#left.add(repository)
  }
}

interface Waiting {
  readonly record: AppendedRecord
  readonly resolve: (entry: Decision) => void
  readonly reject: (error: unknown) => void
}
