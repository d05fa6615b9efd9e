import { setTimeout as pause } from 'node:timers/promises'
import type { Fs, LogHandle } from './fs.ts'
import type { JournalRecord } from './journal-record.ts'
import { encodeRecord } from './journal-record.ts'
import { identityName, thisProcess } from './process-identity.ts'
import { syncTouched } from './sync-touched.ts'

/** The folder of journals in a store. */
export const JOURNAL_FOLDER = '.journal'

/** How long records wait, in milliseconds, until what they tell of is synced where it belongs. */
const CHECKPOINT_AFTER = 1000
/** A journal larger than this is not waited for. */
const LARGE = 16 * 1024 * 1024

const self = identityName(thisProcess())
let files = 0

/**
 * The redo journal of one server process. A write is on the disk once its record is: one append and one sync, shared by all
 * writes that wait at that moment, in place of three rounds of syncs of new files and their folders. Packs and refs are then
 * put in place without waiting, so git sees them before the write is answered. A second later they are synced
 * in the background and the journal is dropped; what a power cut leaves of them before is done again from the journal at
 * the next start (see recoverJournals).
 */
export class Journal {
  readonly #fs: Fs
  readonly #store: string
  #file: JournalFile | undefined
  #waiting: Waiting[] = []
  #writing = false
  #timer: NodeJS.Timeout | undefined
  #checkpoints: Promise<void> = Promise.resolve()

  constructor(fs: Fs, store: string) {
    this.#fs = fs
    this.#store = store
  }

  /**
   * Resolves when the record is on the disk; rejects if it cannot be, and then the write did not happen. Call what it
   * answers once packs and refs are in place.
   */
  append(record: Omit<JournalRecord, 'repository'> & { readonly gitdir: string }): Promise<() => void> {
    const { gitdir, ...rest } = record
    const relative = { ...rest, repository: gitdir.slice(this.#store.length + 1) }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record: relative, bytes: encodeRecord(relative), resolve, reject })
      if (!this.#writing) void this.#write()
    })
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

  async #write(): Promise<void> {
    this.#writing = true
    while (this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = []
      try {
        await this.#writeBatch(batch)
      } catch (error) {
        // What reached the file, if anything, must not be followed by more.
        void this.checkpoint()
        for (const { reject } of batch) reject(error)
      }
    }
    this.#writing = false
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const isNew = this.#file === undefined
    const file = (this.#file ??= this.#begin())
    file.unsettled += batch.length
    try {
      file.log.append(Buffer.concat(batch.map(({ bytes }) => bytes)))
      await file.log.sync()
      if (isNew) await this.#fs.syncDir(`${this.#store}/${JOURNAL_FOLDER}`)
    } catch (error) {
      file.unsettled -= batch.length
      throw error
    }
    for (const { record, bytes, resolve } of batch) {
      file.records.push(record)
      file.size += bytes.length
      resolve(() => {
        file.unsettled--
      })
    }
    if (file.size > LARGE) void this.checkpoint()
    else this.#timer ??= setTimeout(() => void this.checkpoint(), CHECKPOINT_AFTER).unref()
  }

  #begin(): JournalFile {
    const folder = `${this.#store}/${JOURNAL_FOLDER}`
    if (!this.#fs.stat(folder)) this.#fs.makeDir(folder)
    const path = `${folder}/${self}.${++files}`
    return { path, log: this.#fs.createLog(path), records: [], size: 0, unsettled: 0 }
  }

  async #settle(file: JournalFile): Promise<void> {
    // Refs whose record is on the disk are about to move: a few microseconds, or one round of the loop.
    while (file.unsettled > 0) await pause(1)
    try {
      await syncTouched(this.#fs, this.#store, file.records)
      file.log.close()
      this.#fs.remove(file.path)
    } catch {
      // The disk fails: the journal stays for the next start, and the next write will say so.
    }
  }
}

interface JournalFile {
  readonly path: string
  readonly log: LogHandle
  readonly records: JournalRecord[]
  size: number
  /** Records whose packs and refs are not in place yet. */
  unsettled: number
}

interface Waiting {
  readonly record: JournalRecord
  readonly bytes: Buffer
  readonly resolve: (done: () => void) => void
  readonly reject: (error: unknown) => void
}
