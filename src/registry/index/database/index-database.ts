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
import { findRevisions, isWithoutEmbedsIn, newestIn, unreadableIn } from './find-revisions.ts'
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

/** Changes wait this long if nobody asks a question, so that a burst of commits is one write. */
const WRITE_AFTER_MS = 2000
/** The view of an artifact is saved after this time, for the next start. */
const SAVE_AFTER_MS = 30_000
const ARTIFACTS_PER_TRANSACTION = 100
/** A damaged file is made anew at most this often before its trouble is reported. */
const MAX_REBUILDS = 4
/** A question continues in the next file at most this often, in case each new file is damaged again. */
const MAX_READS = 3
/** While another server writes, it tries again for this long. */
const PATIENCE_MS = 5000
/** An artifact that changes all the time is looked at again at most this often. */
const MAX_LOOKS = 5

/** Artifacts whose commits cannot be read. */
export interface UnreadableArtifacts {
  readonly unreadable: readonly { readonly artifact: ArtifactView; readonly reason: Refusal }[]
  /** Whether all artifacts of the question are unreadable. */
  readonly areAll: boolean
}

/** An artifact as an earlier process saw it, as text of `saveView`. */
interface SavedArtifact {
  readonly slug: string
  readonly saved: string
}

/**
 * The revisions of a project's artifacts in an SQLite file, `index.db`. It is derived from the repositories, and may be deleted. A change is noted
 * at once and written a moment later, or before a question is answered. After a crash, the next start finds the unwritten changes, because each
 * artifact's rows name the refs that they were made of. A damaged file is moved aside and made anew, and a deleted one is made anew. If the folder
 * is read-only, or the store is in memory, the rows are in memory.
 */
export class IndexDatabase {
  /**
   * The file for questions, also for callers with a connection of their own. It has been complete at some time, and may be old. In memory there is
   * only this connection.
   */
  file: DatabaseFile | undefined
  /** The reason why the file cannot be written, if there is one. Answers then lag behind. */
  trouble: string | undefined
  readonly #sync: IndexSync
  readonly #onTrouble: (reason: string) => void
  readonly #fs: Fs
  readonly #folder: string
  #path: string
  readonly #files = new DatabaseFiles(openIndexFile, INDEX_BUSY_MS)
  /** The file for writes. It has all rows if nothing is dirty. */
  #target: DatabaseFile | undefined
  #letGo: () => void = () => undefined
  /** Paths of artifacts whose rows may be outdated. */
  readonly #dirty = new Set<string>()
  /** Paths of artifacts whose current view is not saved in the file. */
  readonly #unsaved = new Set<string>()
  /** The reason why an artifact's commits could not be read, by path. */
  readonly #unreadable = new Map<string, Refusal>()
  /** Whether each family was listed once; nothing is written before that. */
  #isComplete = false
  /** Whether the file was empty when it was opened. */
  #isNew = false
  /** Whether the file was reported as damaged, but a check of its pages found nothing. */
  #isSuspect = false
  #turn: Promise<void> = Promise.resolve()
  #writing: NodeJS.Timeout | undefined
  #saving: NodeJS.Timeout | undefined
  #isClosed = false
  /** Holds the rows if there can be no file. */
  #inMemory: DatabaseFile | undefined

  /** `onTrouble` is called with each new reason why the file is unusable. */
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

  /** The artifacts of a family that an earlier process saved, for a faster start; none if the file cannot be read. */
  saved(family: string): readonly SavedArtifact[] {
    if (this.#path === IN_MEMORY) return []
    try {
      const rows = this.#opened().rows<{ slug: ArrayBuffer; saved: ArrayBuffer }>(SAVED, family)
      return rows.map(({ slug, saved }) => ({ slug: utf8Of(slug), saved: utf8Of(saved) }))
    } catch (error) {
      // The first write reports this, or makes the file anew.
      if (isDamage(error) || isStorageTrouble(error)) return []
      throw error
    }
  }

  /** Notes that an artifact is new, has changed, or is gone. */
  readonly note = ({ path }: Pick<ArtifactChange, 'path'>): void => {
    this.#dirty.add(path)
    if (this.#isClosed) return
    // The next question reports an error.
    this.#writing ??= setTimeout(() => void this.fresh().catch(() => undefined), WRITE_AFTER_MS).unref()
  }

  /** Resolves once all noted changes are written, or cannot be written for a known reason. */
  fresh(): Promise<void> {
    clearTimeout(this.#writing)
    this.#writing = undefined
    return this.#inTurn(() => this.#write())
  }

  /**
   * The revisions that a question asks for, in its order, as of the last `fresh`. If the file is deleted meanwhile, running questions continue
   * with it, and later ones use the next file once it has all rows. If the file is damaged, the question continues in the next file at the same
   * place. Refuses with `storage_unavailable` if the disk fails.
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

  /** When the newest revision of each artifact was committed, in seconds since 1970, by the artifact's id; as of the last `fresh`. */
  async newest(family: string): Promise<ReadonlyMap<string, number>> {
    if (!this.file) await this.#turn
    const { file } = this
    if (!file) throw notReadable('it is not whole yet')
    const letGo = file.hold()
    try {
      return await newestIn(file, family)
    } catch (error) {
      if (isDamage(error)) await this.#makeAnew(file, error)
      throw refusalFor(error)
    } finally {
      letGo()
    }
  }

  /** The artifacts whose commits cannot be read and which are therefore missing in the result of a question, as of the last `fresh`. */
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

  /** Whether the index knows that a revision embeds nothing. Then the revision need not be read to see that. */
  isWithoutEmbeds(place: { readonly artifact: ArtifactView; readonly oid: Oid }): boolean {
    return this.#read((file) => isWithoutEmbedsIn(file, place)) ?? false
  }

  /** Call it with a damaged file: it is made anew. */
  damaged(reason: string): Promise<void> {
    return this.#inTurn(() => this.#begin(reason))
  }

  /** Writes all noted changes, and closes the file for good. Later questions are answered from memory. */
  async close(): Promise<void> {
    try {
      await this.fresh()
      if (this.#path !== IN_MEMORY) await this.#inTurn(() => this.#saveViews())
    } finally {
      this.#isClosed = true
      clearTimeout(this.#writing)
      clearTimeout(this.#saving)
      // When a later question comes, another store may lie in the folder.
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

  /** Whether to try again with another file after this error. Throws an error that has nothing to do with the file. */
  #isWorthAnotherTry(error: unknown, tries: number): boolean {
    if (isUnusable(error) && tries < MAX_REBUILDS) {
      this.#setAside(saidOf(error))
      return true
    }
    if (!isUnusable(error) && !isStorageTrouble(error)) throw error
    this.#tell(`cannot be written: ${saidOf(error)}`)
    // Questions are answered from the incomplete file, unless it is nearly empty.
    if (!this.file && !this.#isNew) this.#use(this.#target)
    return false
  }

  async #writeNoted(): Promise<void> {
    const file = this.#target?.isCurrent ? this.#target : this.#openTarget()
    // Unreadable artifacts may be readable by now.
    for (const path of this.#unreadable.keys()) this.#dirty.add(path)
    const slice = new TimeSlice()
    // This includes changes that are noted meanwhile.
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

  /** Works out the change of an artifact's rows. */
  async #changeAt(file: DatabaseFile, path: string, slice: TimeSlice): Promise<RowsChange> {
    this.#unreadable.delete(path)
    for (let looks = 0; ; looks++) {
      const view = this.#sync.viewAt(path)
      if (!view) return { path, view, before: '', commits: undefined }
      const before = seenAt(file, view)
      try {
        const commits = await missingCommits(file, view, slice)
        // Another server may have written rows from a later look. The last writer must have seen everything.
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

  /** Notes why the commits of an artifact cannot be read. Throws any other error. */
  #leaveOut(path: string, error: unknown): void {
    const reason = damageOf(error, path)
    if (!reason) throw error
    this.#unreadable.set(path, reason)
  }

  #saveSoon(): void {
    this.#saving = undefined
    // The next start looks at artifacts whose view is not saved.
    void this.#inTurn(() => this.#saveViews()).catch(() => undefined)
  }

  /** Saves current views, for the next start. It skips artifacts that are being written to: they are saved after their rows are written. */
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

  /** Opens the file, and notes all artifacts whose rows are outdated. */
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

  /** The files that earlier versions used in the place of this file. */
  #removeTimelines(): void {
    try {
      for (const name of this.#fs.readDir(this.#folder) ?? [])
        if (name.endsWith('.timeline')) this.#fs.remove(`${this.#folder}/${name}`)
    } catch {
      // They are in nobody's way.
    }
  }

  #opened(): DatabaseFile {
    // SQLite opens the file by its path, so this refuses if another store may be there.
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

  /** SQLite frees the memory of a database only when it is closed. */
  #forgetMemory(): void {
    this.#inMemory?.close()
    this.#inMemory = undefined
  }

  /** Starts a new file in place of a damaged one. */
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
    // If every page is valid and the error comes again, the rows contradict each other.
    this.#isSuspect = this.#files.setAside(this.#path, this.#isSuspect) === undefined
  }

  #tell(reason: string): void {
    if (reason !== this.trouble) this.#onTrouble(reason)
    this.trouble = reason
  }

  /** Uses this file for questions from now on. Without a file they wait for the next one. */
  #use(file: DatabaseFile | undefined): void {
    this.#letGo()
    this.file = file
    this.#letGo = file?.hold() ?? (() => undefined)
  }

  /** Undefined without a file, or if it turns out to be damaged; then it is made anew. */
  #read<T>(read: (file: DatabaseFile) => T): T | undefined {
    const { file } = this
    try {
      return file && read(file)
    } catch (error) {
      if (!isDamage(error)) throw refusalFor(error)
      // The next question waits for that.
      if (file) void this.#makeAnew(file, error).catch(() => undefined)
      return undefined
    }
  }

  /** Starts a new file in place of the one that a question found damaged, unless that was done meanwhile. */
  #makeAnew(file: DatabaseFile, error: unknown): Promise<void> {
    return this.#inTurn(async () => (file === this.#target ? this.#begin(saidOf(error)) : undefined))
  }
}

/** Writes rows in several transactions; they become visible with the last one. It stops if another server has changed the artifact's rows. */
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

/** Tries again while another server writes to the file, and yields in between. */
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

/** The message of an error, for the log and for clients. */
function saidOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const SAVED = `
  SELECT CAST(slug AS BLOB) AS slug, CAST(saved AS BLOB) AS saved FROM artifacts WHERE family = ? AND saved IS NOT NULL`
const SAVE = 'UPDATE artifacts SET saved = ? WHERE family = ? AND slug = ? AND seen = ?'
const SEEN = "SELECT CAST(family || '/' || slug AS BLOB) AS path, CAST(seen AS BLOB) AS seen FROM artifacts"
