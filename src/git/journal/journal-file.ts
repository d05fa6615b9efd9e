import { setTimeout as pause } from 'node:timers/promises'
import type { Fs, LogHandle } from '../../storage/fs.ts'
import type { JournalRecord } from './journal-record.ts'
import type { Decision, DecisionNote } from '../transactions/arbiter.ts'
import { decodeJournal, encodeRecord, encodeWithdrawal, JOURNAL_END } from './journal-record.ts'

/** How long it waits before it reads again what the disk would not let it read, in milliseconds. */
const AGAIN = 100

/** A record as it is handed in. */
export interface AppendedRecord extends Omit<JournalRecord, 'round' | 'notes'> {
  readonly notes: readonly DecisionNote[]
}

/** One file of a journal: takes records until it is ended, and then, once nothing in it is needed any more, from its beginning again. */
export class JournalFile {
  readonly path: string
  readonly #log: LogHandle
  #round = 0
  #size = 0
  /** Records whose packs and refs are not in place yet. */
  #unsettled = 0
  #isBroken = false
  /** What is being written and may be on the disk or not. */
  #writing: readonly JournalRecord[] = []
  #kept: JournalRecord[] = []
  #notes = new Map<JournalRecord, readonly DecisionNote[]>()

  constructor(fs: Fs, path: string) {
    this.path = path
    this.#log = fs.createLog(path)
  }

  /** Bytes that were written to it in this round. */
  get size(): number {
    return this.#size
  }

  /** Whether a record of this round may not be in place yet. */
  get hasPending(): boolean {
    return this.#unsettled > 0
  }

  /** Whether a write of it failed: it must not be written again. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  /** The records of this round that are in place only in part. */
  get kept(): readonly JournalRecord[] {
    return this.#kept
  }

  /** What the records of this round have to leave in the store. */
  get notes(): readonly DecisionNote[] {
    return [...this.#notes.values()].flat()
  }

  /** From here on records go to its beginning; `round` is a number that no other has. */
  begin(round: number): void {
    this.#log.rewind()
    this.#round = round
    this.#size = 0
    this.#kept = []
    this.#notes = new Map()
  }

  /**
   * Writes records and syncs them, and what `alsoSync` does, and answers an entry for each. Rejects if the disk fails: then they have to
   * be taken back.
   */
  async write(records: readonly AppendedRecord[], alsoSync: () => Promise<void>): Promise<Decision[]> {
    const whole = records.map(({ notes, ...record }): JournalRecord => {
      return { ...record, round: this.#round, notes: notes.map(({ path }) => path) }
    })
    this.#unsettled += whole.length
    this.#writing = whole
    try {
      const bytes = Buffer.concat(whole.map(encodeRecord))
      this.#log.append(bytes)
      this.#size += bytes.length
      await this.#log.sync()
      await alsoSync()
      this.#writing = []
    } catch (error) {
      this.#unsettled -= whole.length
      throw error
    }
    for (const [index, record] of whole.entries()) {
      const notes = records[index]?.notes ?? []
      if (notes.length > 0) this.#notes.set(record, notes)
    }
    return whole.map((record) => this.#entryOf(record))
  }

  /** It is not begun again: what it is on may be no more. */
  retire(): void {
    this.#isBroken = true
  }

  /** What was appended and could not be synced may be on the disk all the same; so is this, then. */
  takeBack(): void {
    this.#isBroken = true
    try {
      this.#log.append(Buffer.concat(this.#writing.map(encodeWithdrawal)))
    } catch {
      // Nothing of the batch may have been appended either.
    }
  }

  /** What it tells of, once the disk lets it be read; undefined where `isOver` says so before. */
  async records(isOver: () => boolean): Promise<readonly JournalRecord[] | undefined> {
    for (;;) {
      try {
        return decodeJournal(this.written())
      } catch {
        if (isOver()) return undefined
        await pause(AGAIN, undefined, { ref: false })
      }
    }
  }

  /** What it holds, also where somebody has removed the file. */
  written(): Buffer {
    return this.#log.written()
  }

  /** Ends it before its first record: what is settled must not be done again when refs have moved on since. */
  async empty(): Promise<void> {
    this.#log.rewind()
    this.#log.append(JOURNAL_END)
    await this.#log.sync()
  }

  /** Nothing is asked of it any more, and nobody must fail for it. */
  close(): void {
    try {
      this.#log.close()
    } catch {
      // See above.
    }
  }

  #entryOf(record: JournalRecord): Decision {
    let isOpen = true
    const complete = (): boolean => {
      const wasOpen = isOpen
      if (isOpen) this.#unsettled--
      isOpen = false
      return wasOpen
    }
    return {
      complete,
      withdraw: () => this.#withdraw(record).finally(complete),
      keep: () => {
        const isKept = complete()
        if (isKept) this.#kept.push(record)
        return isKept
      },
    }
  }

  /** Into the same file, which waits for it: a later one may outlive it. */
  async #withdraw(record: JournalRecord): Promise<void> {
    this.#notes.delete(record)
    try {
      this.#log.append(encodeWithdrawal(record))
      await this.#log.sync()
    } catch {
      // The disk fails all the way; the door says that the write may be there or not.
    }
  }
}
