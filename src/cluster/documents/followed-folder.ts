import { hash } from 'node:crypto'
import { ensuringFolder, type Fs, OWNER_ONLY } from '../../storage/files.ts'
import type { DocumentEntry, DocumentNews, DocumentPart, DocumentSummary } from './document-table.ts'

/**
 * The documents in a server's own folder: copies that follow the shared table. They are only read, so nothing is synced; missing or damaged
 * copies are detected when the folder is opened. Each change is one synchronous step.
 */
export class FollowedFolder {
  readonly #fs: Fs
  readonly #dir: string
  /** The versions of the copies. */
  readonly #versions = new Map<string, number>()
  /** Versions at which documents were removed, in order, so that content read earlier does not bring them back. */
  readonly #removed = new Map<string, { readonly version: number; readonly at: number }>()

  constructor(fs: Fs, dir: string) {
    this.#fs = fs
    this.#dir = dir
  }

  /** The version of the copy; 0 if there is none. */
  version(path: string): number {
    return this.#versions.get(path) ?? 0
  }

  /** Applies what was read from the table, as far as it is newer. */
  takeNews({ path, mode, parts }: DocumentNews): void {
    for (const part of parts) this.#takePart(path, mode, part)
  }

  /** Applies a change that was made after version `before`; false if the copy is older than that. */
  takeChange(path: string, before: number, mode: number | undefined, part: DocumentPart): boolean {
    if (!part.isWhole && this.version(path) < before) return false
    this.#takePart(path, mode, part)
    return true
  }

  /** Removes the copy, unless it is newer. `at` is the number of the last request to the table so far. */
  takeRemoval({ path, version }: Pick<DocumentEntry, 'path' | 'version'>, at: number): void {
    if (this.#isNewer(path, version)) return
    this.#fs.remove(this.#pathOf(path))
    this.#versions.delete(path)
    this.#removed.delete(path) // it is the last one now
    this.#removed.set(path, { version, at })
  }

  /** Removes a file for which the table has no document. */
  takeAbsence(path: string): void {
    if (this.version(path) === 0) this.#fs.remove(this.#pathOf(path))
  }

  /** Marks the copy's content as unknown. */
  distrust(path: string): void {
    this.#versions.delete(path)
  }

  /** Forgets removals that only answers to requests before this one could undo; all of those are answered. */
  forgetRemovals(before: number): void {
    for (const [path, { at }] of this.#removed) {
      if (at >= before) return
      this.#removed.delete(path)
    }
  }

  /**
   * Compares the copies with the table. Answers the documents that must be read again, and removes copies without a document. `isDocument`
   * tells which files are copies.
   */
  compare(summaries: readonly DocumentSummary[], isDocument: (path: string) => boolean): readonly string[] {
    const known = new Map(summaries.map((summary) => [summary.path, summary]))
    this.#versions.clear()
    for (const path of this.#files('')) {
      if (!isDocument(path)) continue
      const summary = known.get(path)
      if (!summary) this.#fs.remove(this.#pathOf(path))
      else if (this.#digest(path) === summary.digest) this.#versions.set(path, summary.version)
    }
    return summaries.map(({ path }) => path).filter((path) => !this.#versions.has(path))
  }

  #takePart(path: string, mode: number | undefined, { version, isWhole, bytes }: DocumentPart): void {
    if (this.#isNewer(path, version)) return
    const file = this.#pathOf(path)
    if (isWhole) this.#replace(file, bytes, mode)
    else ensuringFolder(this.#fs, file, () => this.#fs.append(file, bytes))
    this.#versions.set(path, version)
  }

  /** Whether the copy has this version or a newer one. */
  #isNewer(path: string, version: number): boolean {
    return Math.max(this.version(path), this.#removed.get(path)?.version ?? 0) >= version
  }

  #replace(file: string, bytes: Uint8Array, mode = OWNER_ONLY): void {
    const temporary = `${file}.new`
    this.#fs.remove(temporary)
    ensuringFolder(this.#fs, file, () => this.#fs.create(temporary, bytes, mode))
    this.#fs.rename(temporary, file)
  }

  #digest(path: string): string | undefined {
    const bytes = this.#fs.readFile(this.#pathOf(path))
    return bytes && hash('md5', bytes)
  }

  /** The files below a folder of the store, except those in repositories and hidden folders. */
  *#files(folder: string): Generator<string> {
    for (const name of this.#fs.readDir(this.#pathOf(folder)) ?? []) {
      if (name.startsWith('.') || name.endsWith('.git')) continue
      const path = folder === '' ? name : `${folder}/${name}`
      if (this.#fs.stat(this.#pathOf(path))?.kind === 'folder') yield* this.#files(path)
      else yield path
    }
  }

  #pathOf(path: string): string {
    return path === '' ? this.#dir : `${this.#dir}/${path}`
  }
}
