import type { UnreadableArtifacts } from './unreadable-artifacts.ts'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProjectStore } from '../../../git/project-store.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { Fs } from '../../../storage/fs.ts'
import { type DatabaseFile, IN_MEMORY } from '../../../storage/sqlite/database-file.ts'
import { DatabaseFiles } from '../../../storage/sqlite/database-files.ts'
import { isBusy, isDamage, isStorageTrouble, isUnusable } from '../../../storage/sqlite/sqlite-errors.ts'
import { type IndexChange, IndexChanges, type IndexSource } from './index-changes.ts'
import { INDEX_BUSY_MS, openIndexFile } from './index-file.ts'
import { IndexReader, saidOf } from './index-reader.ts'
import type { RevisionQuestion, RevisionRow } from './revision-question.ts'
import { type SavedArtifact, savedIn, seenIn } from './seen-artifacts.ts'
import { seenOf } from './write-artifact.ts'

/** The name of the file in a project's folder. */
export const INDEX_FILE = 'index.db'

/** How long what is new waits to be written, in milliseconds, where nobody asks for it: so a burst of commits is one write. */
const WRITE_AFTER = 2000
const ARTIFACTS_PER_TRANSACTION = 100
/** How often a damaged file is made anew before its trouble is reported. */
const MAX_REBUILDS = 4
/** How long it is tried again while another server writes, in milliseconds. */
const PATIENCE = 5000

/**
 * The revisions of a project's artifacts in an SQLite file, `index.db`: derived from the repositories, and disposable. What a write changed
 * is noted at once and written a moment later, or before a question is answered. What was not written when the process ended is found at
 * the next start by what the rows were made of. A damaged file is set aside and made anew, and so is one that somebody took away; where the
 * folder lets nobody write, and in memory stores, the rows are in memory.
 */
export class IndexDatabase {
  readonly #source: IndexSource
  readonly #changes: IndexChanges
  readonly #fs: Fs
  readonly #folder: string
  #path: string
  readonly #files = new DatabaseFiles(openIndexFile, INDEX_BUSY_MS)
  readonly #reader = new IndexReader({
    settled: () => this.#writing,
    damaged: (reason, file) =>
      this.#inTurn(async () => (file === this.#file ? this.#begin(reason) : undefined)),
  })
  /** What is written to, and has all rows once nothing is dirty. */
  #file: DatabaseFile | undefined
  /** Places of artifacts whose rows may be others by now. */
  readonly #dirty = new Set<string>()
  readonly #unsaved = new UnsavedViews(WRITE_AFTER, (paths) => {
    for (const path of paths) this.note(path)
  })
  #isFilled = false
  /** Whether it had nothing in it when it was opened. */
  #isNew = false
  /** Whether it was said to be damaged, and no page was found to be. */
  #isSuspect = false
  #writing: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #trouble: string | undefined
  #isClosed = false
  /** Holds the rows where no file can. */
  #inMemory: DatabaseFile | undefined

  constructor({ fs, folder }: Pick<ProjectStore, 'fs' | 'folder'>, source: IndexSource) {
    this.#source = source
    this.#changes = new IndexChanges(source)
    this.#fs = fs
    this.#folder = folder
    this.#path = fs.isSeenByOthers ? `${folder}/${INDEX_FILE}` : IN_MEMORY
  }

  /** What keeps the file from being written, if anything: answers lag behind until that is over. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** The artifacts of a family that a process of before saw, for the source to begin with; none where the file cannot be read. */
  saved(family: string): readonly SavedArtifact[] {
    if (this.#path === IN_MEMORY) return []
    try {
      return savedIn(this.#opened(), family)
    } catch (error) {
      // The first write says so, or makes the file anew.
      if (isDamage(error) || isStorageTrouble(error)) return []
      throw error
    }
  }

  /** Notes that an artifact is new, another one, or gone. */
  note(path: string): void {
    this.#dirty.add(path)
    if (this.#isClosed) return
    // What goes wrong then is told to whoever asks next.
    this.#timer ??= setTimeout(() => void this.fresh().catch(() => undefined), WRITE_AFTER).unref()
  }

  /** Resolves once all that was noted is written, or it is known why it cannot be. */
  fresh(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    return this.#inTurn(() => this.#write())
  }

  /** The revisions that a question asks for, in its order, as of the last `fresh`; see IndexReader. */
  revisions(question: RevisionQuestion): AsyncGenerator<RevisionRow, void, undefined> {
    return this.#reader.revisions(question)
  }

  /** The artifacts of a question that are left out of what it finds, since their commits cannot be read, as of the last `fresh`. */
  unreadable(question: RevisionQuestion): UnreadableArtifacts {
    if (this.#changes.unreadable.size === 0) return { unreadable: [], areAll: false }
    const { slugs, areAll } = this.#reader.unreadable(question)
    const unreadable = slugs.flatMap((slug) => {
      const path = `${question.family}/${slug}`
      const [artifact, reason] = [this.#source.at(path)?.view, this.#changes.unreadable.get(path)]
      return artifact && reason ? [{ artifact, reason }] : []
    })
    return { unreadable, areAll }
  }

  /** The file that questions are answered from, for who has a connection of its own to it; in memory there is this one only. */
  get file(): DatabaseFile | undefined {
    return this.#reader.file
  }

  /** Whether it is known that a revision embeds nothing: then nobody needs to read it to see that. */
  isWithoutEmbeds(...place: Parameters<IndexReader['isWithoutEmbeds']>): boolean {
    return this.#reader.isWithoutEmbeds(...place)
  }

  /** To be called by who finds the file damaged: it is made anew. */
  damaged(reason: string): Promise<void> {
    return this.#inTurn(() => this.#begin(reason))
  }

  /** Writes what is noted, and lets go of the file for good: who asks later is answered from memory. */
  async close(): Promise<void> {
    this.#unsaved.tryNow()
    try {
      await this.fresh()
    } finally {
      this.#isClosed = true
      clearTimeout(this.#timer)
      // Another store may lie in the folder by the time that somebody asks again.
      this.#path = IN_MEMORY
      this.#reader.use(undefined)
      this.#files.close()
      this.#forgetMemory()
      this.#file = undefined
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#writing.then(work)
    this.#writing = turn.catch(() => undefined)
    return turn
  }

  async #write(): Promise<void> {
    for (let tries = 1; this.#source.isComplete(); tries++) {
      try {
        await this.#writeNoted()
        this.#trouble = undefined
        return
      } catch (error) {
        if (isUnusable(error) && tries < MAX_REBUILDS) this.#setAside(saidOf(error))
        else if (!isUnusable(error) && !isStorageTrouble(error)) throw error
        else {
          this.#tell(`cannot be written: ${saidOf(error)}`)
          // Questions are answered from what there is, unless that is next to nothing.
          if (!this.#reader.file && !this.#isNew) this.#reader.use(this.#file)
          return
        }
      }
    }
  }

  async #writeNoted(): Promise<void> {
    const file = this.#open()
    // What could not be read may be by now.
    for (const path of this.#changes.unreadable.keys()) this.#dirty.add(path)
    const slice = new TimeSlice()
    for (let paths = this.#take(); paths.length > 0; paths = this.#take()) {
      try {
        await this.#writeSome(file, paths, slice)
      } catch (error) {
        for (const path of paths) this.#dirty.add(path)
        throw error
      }
      await slice.pause()
    }
    this.#reader.use(file)
  }

  #take(): string[] {
    const paths: string[] = []
    for (const path of this.#dirty) {
      if (paths.length === ARTIFACTS_PER_TRANSACTION) break
      this.#dirty.delete(path)
      paths.push(path)
    }
    return paths
  }

  async #writeSome(file: DatabaseFile, paths: readonly string[], slice: TimeSlice): Promise<void> {
    const changes: IndexChange[] = []
    for (const path of paths) {
      const change = await this.#changes.of(file, path, slice)
      changes.push(change)
      for (const piece of change.before ?? []) {
        if (!(await patiently(() => file.transaction(piece)))) break
        await slice.rest()
      }
    }
    const again = await patiently(() => file.transaction(() => changes.filter((change) => !change.write())))
    for (const change of changes) {
      this.#unsaved.note(change.path, change.isSaved)
      if (again.includes(change)) this.#dirty.add(change.path)
      else change.written?.()
    }
  }

  /** The file, with all noted that its rows do not know yet. */
  #open(): DatabaseFile {
    if (this.#file?.isCurrent && this.#isFilled) return this.#file
    const file = this.#opened()
    const seen = seenIn(file)
    this.#isNew = seen.size === 0
    for (const entry of this.#source.entries()) {
      const { path } = entry
      const isAsSeen = entry.isAsRestored ? seen.has(path) : seen.get(path) === seenOf(entry.view)
      if (!isAsSeen) this.#dirty.add(path)
      seen.delete(path)
    }
    for (const path of seen.keys()) this.#dirty.add(path)
    this.#file = file
    this.#isFilled = true
    this.#removeTimelines()
    return file
  }

  /** What servers of before kept in the place of this file. */
  #removeTimelines(): void {
    try {
      for (const name of this.#fs.readDir(this.#folder) ?? [])
        if (name.endsWith('.timeline')) this.#fs.remove(`${this.#folder}/${name}`)
    } catch {
      // They are in nobody's way.
    }
  }

  #opened(): DatabaseFile {
    // SQLite opens it by its path: where another store may be, that is refused.
    this.#fs.stat(this.#folder)
    if (this.#inMemory && (this.#path === IN_MEMORY || this.#inMemory === this.#file)) return this.#inMemory
    if (this.#path === IN_MEMORY) return (this.#inMemory = openIndexFile(IN_MEMORY))
    try {
      if (this.#file?.isTorn) this.#files.removeTorn(this.#file)
      return this.#files.writable(this.#path)
    } catch (error) {
      if (isDamage(error) || !isStorageTrouble(error)) throw error
      this.#tell(`cannot be opened, and is kept in memory: ${saidOf(error)}`)
      return (this.#inMemory ??= openIndexFile(IN_MEMORY))
    }
  }

  /** SQLite gives the memory of a database back once it is closed, not when nobody knows it any more. */
  #forgetMemory(): void {
    this.#inMemory?.close()
    this.#inMemory = undefined
  }

  /** Begins a new file in the place of one that is damaged. */
  #begin(reason: string): Promise<void> {
    this.#setAside(reason)
    return this.#write()
  }

  #setAside(reason: string): void {
    this.#fs.stat(this.#folder)
    this.#tell(`is damaged, and made anew: ${reason}`)
    this.#reader.use(undefined)
    this.#forgetMemory()
    this.#file = undefined
    this.#isFilled = false
    // Where every page is whole and it happens again all the same, rows contradict each other.
    this.#isSuspect = this.#files.setAside(this.#path, this.#isSuspect) === undefined
  }

  #tell(reason: string): void {
    if (reason !== this.#trouble) this.#source.onTrouble(reason)
    this.#trouble = reason
  }
}

/** Tries again while another server of the folder writes, and lets others have their turn meanwhile. */
async function patiently<T>(work: () => T): Promise<T> {
  for (const deadline = Date.now() + PATIENCE; ; await pause(10)) {
    try {
      return work()
    } catch (error) {
      if (Date.now() > deadline || !isBusy(error)) throw error
    }
  }
}

/**
 * Artifacts whose rows were written without a view for the next start, because they had been written to just before. Each is tried once
 * more when that is over.
 */
class UnsavedViews {
  readonly #after: number
  readonly #again: (paths: Iterable<string>) => void
  readonly #waiting = new Set<string>()
  readonly #tried = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  /** `again` is told of them `after` so many milliseconds. */
  constructor(after: number, again: (paths: Iterable<string>) => void) {
    this.#after = after
    this.#again = again
  }

  /** Notes whether an artifact was written with its view. */
  note(path: string, isSaved: boolean): void {
    const wasTried = this.#tried.delete(path)
    if (isSaved || wasTried) return void this.#waiting.delete(path)
    this.#waiting.add(path)
    this.#timer ??= setTimeout(() => this.tryNow(), this.#after).unref()
  }

  /** Has those that wait tried now. */
  tryNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const path of this.#waiting) this.#tried.add(path)
    this.#again(this.#waiting)
    this.#waiting.clear()
  }
}
