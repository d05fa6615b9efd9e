import { setTimeout as pause } from 'node:timers/promises'
import { finishJointWrites } from './finish-joint-writes.ts'
import type { Fs, LogHandle } from './fs.ts'
import type { JournalRecord, JournalWrite } from './journal-record.ts'
import { decodeRecords, encodeRecord, encodeWithdrawal, JOURNAL_END } from './journal-record.ts'
import { makeDurableDir } from './make-durable-dir.ts'
import { identityName, parseIdentity, thisProcess } from './process-identity.ts'
import { settleJournal } from './settle-journal.ts'

/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'

/** How long records wait, in milliseconds, until what they tell of is synced where it belongs. */
const CHECKPOINT_AFTER = 1000
/** A journal larger than this is not waited for. */
const LARGE = 16 * 1024 * 1024

const self = identityName(thisProcess())
let files = 0
let records = 0
let rounds = 0

/** A record that is on the disk, and what became of it; what is called first counts. */
export interface JournalEntry {
  /** Packs and refs are in place. */
  settle(): void
  /** They could not be put in place and the write is refused: nobody shall do it again. */
  withdraw(): Promise<void>
  /**
   * They could be put in place only in a part of the repositories: the record is kept until the next start, which finishes it.
   * False if it was withdrawn before.
   */
  keep(): boolean
}

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
  /** Whether the folder's name in the store is on the disk. */
  #isFolderNamed = false
  #timer: NodeJS.Timeout | undefined
  #checkpoints: Promise<void> = Promise.resolve()

  constructor(fs: Fs, store: string) {
    this.#fs = fs
    this.#store = store
  }

  /**
   * Resolves when a record of these writes is on the disk; rejects if it cannot be, and then none of them happened. To be called
   * while their refs are locked.
   */
  append(writes: readonly AppendedWrite[]): Promise<JournalEntry> {
    const record = {
      id: ++records,
      at: Number(process.hrtime.bigint() / 1000n),
      writes: writes.map(({ gitdir, moves, pack }) => ({
        repository: gitdir.slice(this.#store.length + 1),
        moves,
        pack,
      })),
    }
    return new Promise((resolve, reject) => this.#enqueue({ record, resolve, reject }))
  }

  #enqueue(waiting: Waiting): void {
    this.#waiting.push(waiting)
    if (!this.#writing) void this.#write()
  }

  /**
   * Finishes what a dead process decided to write to several repositories: before one of its locks, which keep others from
   * what is left to do, is taken over. `dead` is a name that begins with the process's identity.
   */
  async finishFor(dead: string): Promise<void> {
    const owner = parseIdentity(dead)
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (owner && this.#fs.stat(folder)) await this.#fs.syncDir(folder)
    for (const name of (owner && this.#fs.readDir(folder)) ?? []) {
      if (!owner || !name.startsWith(`${identityName(owner)}.`)) continue
      // It may have died before its own sync was over.
      await this.#fs.sync(`${folder}/${name}`)
      const bytes = this.#fs.readFile(`${folder}/${name}`) ?? Buffer.alloc(0)
      await finishJointWrites(this.#fs, this.#store, decodeRecords(bytes))
    }
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

  /** The same after the last write; nothing of the journal is left in the store. */
  async close(): Promise<void> {
    await this.checkpoint()
    for (const { path, log } of this.#spare.splice(0)) {
      letGo(log)
      this.#fs.remove(path)
    }
  }

  async #write(): Promise<void> {
    this.#writing = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#writeBatch(batch)
      } catch (error) {
        if (this.#file) this.#takeBack(this.#file)
        // What reached the file, if anything, must not be followed by more.
        void this.checkpoint()
        for (const { reject } of batch) reject(error)
      }
    }
    this.#writing = false
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const file = (this.#file ??= this.#begin())
    file.unsettled += batch.length
    const whole = batch.map(({ record }) => ({ ...record, round: file.round }))
    file.writing = whole
    try {
      const bytes = Buffer.concat(whole.map(encodeRecord))
      file.log.append(bytes)
      file.size += bytes.length
      await file.log.sync()
      if (!file.isNamed) await this.#syncNames()
      file.isNamed = true
      file.writing = []
    } catch (error) {
      file.unsettled -= batch.length
      throw error
    }
    for (const [index, { resolve }] of batch.entries()) {
      const record = whole[index]
      let isOpen = true
      const settle = (): boolean => {
        const wasOpen = isOpen
        if (isOpen) file.unsettled--
        isOpen = false
        return wasOpen
      }
      resolve({
        settle,
        withdraw: () => this.#withdraw(file, record).finally(settle),
        keep: () => {
          const isKept = settle()
          if (isKept && record) file.kept.push(record)
          return isKept
        },
      })
    }
    if (file.size > LARGE) void this.checkpoint()
    else this.#timer ??= setTimeout(() => void this.#checkpointInTurn(), CHECKPOINT_AFTER).unref()
  }

  /** The folder's own name, too, which may be new. */
  async #syncNames(): Promise<void> {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (!this.#isFolderNamed) await makeDurableDir(this.#fs, folder)
    this.#isFolderNamed = true
    await this.#fs.syncDir(folder)
  }

  /** Into the same file, which waits for it: a later one may outlive it. */
  async #withdraw(file: JournalFile, record: JournalRecord | undefined): Promise<void> {
    if (!record) return
    try {
      file.log.append(encodeWithdrawal(record))
      await file.log.sync()
    } catch {
      // The disk fails all the way; the door says that the write may be there or not.
    }
  }

  /** What was appended and could not be synced may be on the disk all the same; so is this, then. */
  #takeBack(file: JournalFile): void {
    file.isBroken = true
    try {
      file.log.append(Buffer.concat(file.writing.map(encodeWithdrawal)))
    } catch {
      // Nothing of the batch may have been appended either.
    }
  }

  #begin(): JournalFile {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (!this.#fs.stat(folder)) this.#fs.makeDir(folder)
    const spare = this.#spare.pop()
    const path = spare?.path ?? `${folder}/${self}.${++files}`
    const log = spare?.log ?? this.#fs.createLog(path)
    const isNamed = spare !== undefined
    log.rewind()
    return {
      path,
      log,
      isNamed,
      isBroken: false,
      round: ++rounds,
      kept: [],
      writing: [],
      size: 0,
      unsettled: 0,
    }
  }

  async #settle(file: JournalFile): Promise<void> {
    // Refs whose record is on the disk are about to move: a few microseconds, or one round of the loop.
    while (file.unsettled > 0) await pause(1)
    try {
      await this.#syncTold(file)
      if (file.kept.length > 0) await this.#keep(file.kept)
      const isThere = this.#fs.stat(file.path) !== undefined
      if (isThere && !file.isBroken && this.#spare.length === 0) {
        await emptied(file.log)
        this.#spare.push(file)
        return
      }
      this.#fs.remove(file.path)
    } catch {
      // The disk fails: the journal stays for the next start, and the next write will say so.
    }
    letGo(file.log)
  }

  /** What is written is told by the log itself where somebody has removed the file. */
  async #syncTold({ path, log }: JournalFile): Promise<void> {
    try {
      if (this.#fs.settleJournal) return await this.#fs.settleJournal(this.#store, path)
    } catch (error) {
      if (this.#fs.stat(path)) throw error
    }
    await settleJournal(this.#fs, this.#store, log.written())
  }

  /** In a file of their own, which is left to the next start. */
  async #keep(kept: readonly JournalRecord[]): Promise<void> {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    await this.#fs.createSynced(`${folder}/${self}.${++files}`, Buffer.concat(kept.map(encodeRecord)))
    await this.#fs.syncDir(folder)
  }
}

/** Records that are settled must not be done again when refs have moved on since, so they end before they begin. */
async function emptied(log: LogHandle): Promise<void> {
  log.rewind()
  log.append(JOURNAL_END)
  await log.sync()
}

/** Nothing is asked of it any more, and the next checkpoint must not fail for it. */
function letGo(log: LogHandle): void {
  try {
    log.close()
  } catch {
    // See above.
  }
}

/** What a write does in one repository, named by its folder. */
export interface AppendedWrite extends Omit<JournalWrite, 'repository'> {
  readonly gitdir: string
}

interface JournalFile {
  readonly path: string
  readonly log: LogHandle
  readonly round: number
  /** Whether its name in the folder is on the disk. */
  isNamed: boolean
  /** A write of it failed: it is not written again. */
  isBroken: boolean
  /** Records that are in place only in part. */
  readonly kept: JournalRecord[]
  /** What is being written and may be on the disk or not. */
  writing: readonly JournalRecord[]
  size: number
  /** Records whose packs and refs are not in place yet. */
  unsettled: number
}

interface Waiting {
  readonly record: Omit<JournalRecord, 'round'>
  readonly resolve: (entry: JournalEntry) => void
  readonly reject: (error: unknown) => void
}
