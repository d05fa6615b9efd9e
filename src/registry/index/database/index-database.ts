import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../../errors.ts'
import type { ProjectStore } from '../../../git/store.ts'
import type { Oid } from '../../../git/objects.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { Fs } from '../../../storage/files.ts'
import {
  type DatabaseFile,
  IN_MEMORY,
  utf8Of,
  DatabaseFiles,
  isBusy,
  isDamage,
  isStorageTrouble,
  isUnusable,
} from '../../../storage/sqlite.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import { damageOf } from '../damaged-repositories.ts'
import { type ArtifactChange, saveView } from '../index-entry.ts'
import type { IndexSync } from '../index-sync.ts'
import type { RevisionQuestion, RevisionRow } from './find-revisions.ts'
import { findRevisions, isWithoutEmbedsIn, unreadableIn } from './find-revisions.ts'
import { INDEX_BUSY_MS, openIndexFile } from './index-file.ts'
import {
  missingCommits,
  piecesBefore,
  ROWS_PER_PIECE,
  type RowsChange,
  seenAt,
  seenOf,
  writeChange,
} from './write-artifact.ts'

/** The name of the file in a project's folder. */
export const INDEX_FILE = 'index.db'

/** How long what is new waits to be written where nobody asks for it: a burst of commits is one write. */
const WRITE_AFTER_MS = 2000
/** How long the view of an artifact waits to be saved for the next start. */
const SAVE_AFTER_MS = 30_000
const ARTIFACTS_PER_TRANSACTION = 100
/** How often a damaged file is made anew before its trouble is reported. */
const MAX_REBUILDS = 4
/** How often a question goes on in the next file: one that is damaged as soon as it is made is not waited for. */
const MAX_READS = 3
/** How long it is tried again while another server writes. */
const PATIENCE_MS = 5000
/** How often an artifact is looked at again that is written to all the time. */
const MAX_LOOKS = 5

/** Artifacts whose commits cannot be read. */
export interface UnreadableArtifacts {
  readonly unreadable: readonly { readonly artifact: ArtifactView; readonly reason: Refusal }[]
  /** Whether the question asks for no others. */
  readonly areAll: boolean
}

/** An artifact as a process of before saw it: what `saveView` answered. */
interface SavedArtifact {
  readonly slug: string
  readonly saved: string
}

/**
 * The revisions of a project's artifacts in an SQLite file, `index.db`: derived from the repositories, and disposable. What a write changed
 * is noted at once and written a moment later, or before a question is answered. What was not written when the process ended is found at
 * the next start by what the rows were made of. A damaged file is set aside and made anew, and so is one that somebody took away; where the
 * folder lets nobody write, and in memory stores, the rows are in memory.
 */
export class IndexDatabase {
  /**
   * The file that questions are answered from, for who has a connection of its own to it: one that has been whole, however old. In memory
   * there is this connection only.
   */
  file: DatabaseFile | undefined
  /** What keeps the file from being written, if anything: answers lag behind until that is over. */
  trouble: string | undefined
  readonly #sync: IndexSync
  readonly #onTrouble: (reason: string) => void
  readonly #fs: Fs
  readonly #folder: string
  #path: string
  readonly #files = new DatabaseFiles(openIndexFile, INDEX_BUSY_MS)
  /** What is written to, and has all rows once nothing is dirty. */
  #target: DatabaseFile | undefined
  #letGo: () => void = () => undefined
  /** Places of artifacts whose rows may be others by now. */
  readonly #dirty = new Set<string>()
  /** Places of artifacts whose view the file has not got. */
  readonly #unsaved = new Set<string>()
  /** Why the commits of an artifact could not be read, by its place. */
  readonly #unreadable = new Map<string, Refusal>()
  /** Whether each family was looked through at least once: before that, nothing is written. */
  #isComplete = false
  /** Whether it had nothing in it when it was opened. */
  #isNew = false
  /** Whether it was said to be damaged, and no page was found to be. */
  #isSuspect = false
  #turn: Promise<void> = Promise.resolve()
  #writing: NodeJS.Timeout | undefined
  #saving: NodeJS.Timeout | undefined
  #isClosed = false
  /** Holds the rows where no file can. */
  #inMemory: DatabaseFile | undefined

  /** `onTrouble` is told of what is wrong with the file, once for each reason. */
  constructor(
    { fs, folder }: Pick<ProjectStore, 'fs' | 'folder'>,
    sync: IndexSync,
    onTrouble: (reason: string) => void,
  ) {
    this.#sync = sync
    this.#onTrouble = onTrouble
    this.#fs = fs
    this.#folder = folder
    this.#path = fs.isSeenByOthers ? `${folder}/${INDEX_FILE}` : IN_MEMORY
  }

  /** The artifacts of a family that a process of before saw, for a start to begin with; none where the file cannot be read. */
  saved(family: string): readonly SavedArtifact[] {
    if (this.#path === IN_MEMORY) return []
    try {
      const rows = this.#opened().rows<{ slug: ArrayBuffer; saved: ArrayBuffer }>(SAVED, family)
      return rows.map(({ slug, saved }) => ({ slug: utf8Of(slug), saved: utf8Of(saved) }))
    } catch (error) {
      // The first write says so, or makes the file anew.
      if (isDamage(error) || isStorageTrouble(error)) return []
      throw error
    }
  }

  /** Notes that an artifact is new, another one, or gone. */
  readonly note = ({ path }: Pick<ArtifactChange, 'path'>): void => {
    this.#dirty.add(path)
    if (this.#isClosed) return
    // What goes wrong then is told to whoever asks next.
    this.#writing ??= setTimeout(() => void this.fresh().catch(() => undefined), WRITE_AFTER_MS).unref()
  }

  /** Resolves once all that was noted is written, or it is known why it cannot be. */
  fresh(): Promise<void> {
    clearTimeout(this.#writing)
    this.#writing = undefined
    return this.#inTurn(() => this.#write())
  }

  /**
   * The revisions that a question asks for, in its order, as of the last `fresh`. Where somebody takes the file away, questions go on with
   * what they have begun with, and later ones get the next file once it has all rows; one that finds its file damaged goes on in the next
   * where it was. Refuses with `storage_unavailable` where the disk fails.
   */
  async *revisions(question: RevisionQuestion): AsyncGenerator<RevisionRow, void, undefined> {
    let { behind } = question
    for (let tries = 1; ; tries++) {
      if (!this.file) await this.#turn
      const { file } = this
      if (!file) throw notReadable('it is not whole yet')
      const letGo = file.hold()
      try {
        for await (const row of findRevisions(file, { ...question, behind })) {
          behind = row
          yield row
        }
        return
      } catch (error) {
        if (!isDamage(error) || tries === MAX_READS) throw refusalFor(error)
        await this.#makeAnew(file, error)
      } finally {
        letGo()
      }
    }
  }

  /** The artifacts of a question that are left out of what it finds, since their commits cannot be read, as of the last `fresh`. */
  unreadable(question: RevisionQuestion): UnreadableArtifacts {
    const found = this.#unreadable.size > 0 ? this.#read((file) => unreadableIn(file, question)) : undefined
    const { slugs, areAll } = found ?? { slugs: [], areAll: false }
    const unreadable = slugs.flatMap((slug) => {
      const path = `${question.family}/${slug}`
      const [artifact, reason] = [this.#sync.viewAt(path), this.#unreadable.get(path)]
      return artifact && reason ? [{ artifact, reason }] : []
    })
    return { unreadable, areAll }
  }

  /** Whether it is known that a revision embeds nothing: then nobody needs to read it to see that. */
  isWithoutEmbeds(place: { readonly artifact: ArtifactView; readonly oid: Oid }): boolean {
    return this.#read((file) => isWithoutEmbedsIn(file, place)) ?? false
  }

  /** To be called by who finds the file damaged: it is made anew. */
  damaged(reason: string): Promise<void> {
    return this.#inTurn(() => this.#begin(reason))
  }

  /** Writes what is noted, and lets go of the file for good: who asks later is answered from memory. */
  async close(): Promise<void> {
    try {
      await this.fresh()
      if (this.#path !== IN_MEMORY) await this.#inTurn(() => this.#saveViews())
    } finally {
      this.#isClosed = true
      clearTimeout(this.#writing)
      clearTimeout(this.#saving)
      // Another store may lie in the folder by the time that somebody asks again.
      this.#path = IN_MEMORY
      this.#use(undefined)
      this.#files.close()
      this.#forgetMemory()
      this.#target = undefined
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work)
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  async #write(): Promise<void> {
    this.#isComplete ||= this.#sync.tables.isComplete
    for (let tries = 1; this.#isComplete; tries++) {
      try {
        await this.#writeNoted()
        this.trouble = undefined
        return
      } catch (error) {
        if (!this.#isWorthAnotherTry(error, tries)) return
      }
    }
  }

  /** Whether there is another file to write to after what went wrong. Throws what has nothing to do with the file. */
  #isWorthAnotherTry(error: unknown, tries: number): boolean {
    if (isUnusable(error) && tries < MAX_REBUILDS) {
      this.#setAside(saidOf(error))
      return true
    }
    if (!isUnusable(error) && !isStorageTrouble(error)) throw error
    this.#tell(`cannot be written: ${saidOf(error)}`)
    // Questions are answered from what there is, unless that is next to nothing.
    if (!this.file && !this.#isNew) this.#use(this.#target)
    return false
  }

  async #writeNoted(): Promise<void> {
    const file = this.#target?.isCurrent ? this.#target : this.#openTarget()
    // What could not be read may be by now.
    for (const path of this.#unreadable.keys()) this.#dirty.add(path)
    const slice = new TimeSlice()
    // What is noted meanwhile comes up as well.
    while (this.#dirty.size > 0) {
      const taken: string[] = []
      const changes: RowsChange[] = []
      try {
        for (const path of this.#dirty) {
          this.#dirty.delete(path)
          taken.push(path)
          changes.push(await this.#changeAt(file, path, slice))
          if (taken.length === ARTIFACTS_PER_TRANSACTION) break
        }
        await patiently(() =>
          file.transaction(() => {
            for (const change of changes)
              (writeChange(file, change) ? this.#unsaved : this.#dirty).add(change.path)
          }),
        )
      } catch (error) {
        for (const path of taken) this.#dirty.add(path)
        throw error
      }
      if (!this.#isClosed) this.#saving ??= setTimeout(() => this.#saveSoon(), SAVE_AFTER_MS).unref()
      await slice.pause()
    }
    if (file !== this.file) this.#use(file)
  }

  /** What is to become of the rows of an artifact. */
  async #changeAt(file: DatabaseFile, path: string, slice: TimeSlice): Promise<RowsChange> {
    this.#unreadable.delete(path)
    for (let looks = 0; ; looks++) {
      const view = this.#sync.viewAt(path)
      if (!view) return { path, view, before: '', commits: undefined }
      const before = seenAt(file, view)
      try {
        const commits = await missingCommits(file, view, slice)
        // Another server may have written what it saw later: the last to write has to have seen everything.
        if (view.repository.refs.snapshot() === view.source.refs || looks === MAX_LOOKS) {
          if (commits.size > ROWS_PER_PIECE || view.variants.length > ROWS_PER_PIECE)
            await writeInPieces(file, view, before, piecesBefore(file, view, commits), slice)
          return { path, view, before, commits }
        }
      } catch (error) {
        this.#leaveOut(path, error)
        return { path, view, before, commits: undefined }
      }
      await this.#sync.look(view.family, view.slug)
    }
  }

  /** Notes why the commits of an artifact cannot be read. Throws what is another reason. */
  #leaveOut(path: string, error: unknown): void {
    const reason = damageOf(error, path)
    if (!reason) throw error
    this.#unreadable.set(path, reason)
  }

  #saveSoon(): void {
    this.#saving = undefined
    // What is not saved is looked at by the next start.
    void this.#inTurn(() => this.#saveViews()).catch(() => undefined)
  }

  /**
   * Saves the views that the file has not got, for the next start to begin with. It leaves out those of artifacts that are being written
   * to: they come up again once their rows are written.
   */
  async #saveViews(): Promise<void> {
    const file = this.#target
    if (!file?.isCurrent) return
    const slice = new TimeSlice()
    for (const path of this.#unsaved) {
      this.#unsaved.delete(path)
      const view = this.#sync.viewAt(path)
      const text = view && saveView(view)
      if (view && text !== undefined) {
        const values = [text, view.family.folder, view.slug, seenOf(view)] as const
        if ((await patiently(() => file.run(SAVE, ...values))).changes > 0) this.#sync.saved(view, text)
      }
      await slice.pause()
    }
  }

  /** Opens the file, with all noted that its rows do not know yet. */
  #openTarget(): DatabaseFile {
    const file = this.#opened()
    const rows = file.rows<{ path: ArrayBuffer; seen: ArrayBuffer }>(SEEN)
    const seen = new Map(rows.map((row) => [utf8Of(row.path), utf8Of(row.seen)]))
    this.#isNew = seen.size === 0
    for (const entry of this.#sync.tables.entries()) {
      const { path } = entry
      const isAsSeen = entry.isAsRestored ? seen.has(path) : seen.get(path) === seenOf(entry.view)
      if (!isAsSeen) this.#dirty.add(path)
      seen.delete(path)
    }
    for (const path of seen.keys()) this.#dirty.add(path)
    this.#target = file
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
    if (this.#inMemory && (this.#path === IN_MEMORY || this.#inMemory === this.#target)) return this.#inMemory
    if (this.#path === IN_MEMORY) return (this.#inMemory = openIndexFile(IN_MEMORY))
    try {
      if (this.#target?.isTorn) this.#files.removeTorn(this.#target)
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
    this.#use(undefined)
    this.#forgetMemory()
    this.#target = undefined
    // Where every page is whole and it happens again all the same, rows contradict each other.
    this.#isSuspect = this.#files.setAside(this.#path, this.#isSuspect) === undefined
  }

  #tell(reason: string): void {
    if (reason !== this.trouble) this.#onTrouble(reason)
    this.trouble = reason
  }

  /** Has questions answered from this file from now on; without one, they wait for the next. */
  #use(file: DatabaseFile | undefined): void {
    this.#letGo()
    this.file = file
    this.#letGo = file?.hold() ?? (() => undefined)
  }

  /** Undefined where there is no file, or it turns out to be damaged: then it is made anew. */
  #read<T>(read: (file: DatabaseFile) => T): T | undefined {
    const { file } = this
    try {
      return file && read(file)
    } catch (error) {
      if (!isDamage(error)) throw refusalFor(error)
      // Who asks next waits for that.
      if (file) void this.#makeAnew(file, error).catch(() => undefined)
      return undefined
    }
  }

  /** Begins a new file in the place of the one that a question found damaged, unless that was done meanwhile. */
  #makeAnew(file: DatabaseFile, error: unknown): Promise<void> {
    return this.#inTurn(async () => (file === this.#target ? this.#begin(saidOf(error)) : undefined))
  }
}

/** Writes what nobody sees before all of it is there, as long as that is what the rows go on from. */
async function writeInPieces(
  file: DatabaseFile,
  view: ArtifactView,
  before: string,
  pieces: readonly (() => boolean)[],
  slice: TimeSlice,
): Promise<void> {
  for (const piece of pieces) {
    if (!(await patiently(() => file.transaction(() => seenAt(file, view) === before && piece())))) return
    await slice.rest()
  }
}

/** Tries again while another server of the folder writes, and lets others have their turn meanwhile. */
async function patiently<T>(work: () => T): Promise<T> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await pause(10)) {
    try {
      return work()
    } catch (error) {
      if (Date.now() > deadline || !isBusy(error)) throw error
    }
  }
}

function refusalFor(error: unknown): unknown {
  if (!isDamage(error) && !isStorageTrouble(error)) return error
  return notReadable(saidOf(error))
}

function notReadable(reason: string): Refusal {
  return new Refusal('storage_unavailable', `The index cannot be read now: ${reason}. Ask again in a moment.`)
}

/** What was said of a file, for the log and for clients. */
function saidOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const SAVED = `
  SELECT CAST(slug AS BLOB) AS slug, CAST(saved AS BLOB) AS saved FROM artifacts WHERE family = ? AND saved IS NOT NULL`
const SAVE = 'UPDATE artifacts SET saved = ? WHERE family = ? AND slug = ? AND seen = ?'
const SEEN = "SELECT CAST(family || '/' || slug AS BLOB) AS path, CAST(seen AS BLOB) AS seen FROM artifacts"
