import { hash } from 'node:crypto'
import { ensuringFolder } from '../durable-folder.ts'
import { type Fs, OWNER_ONLY } from '../fs.ts'
import type { DocumentEntry, DocumentNews, DocumentPart, DocumentSummary } from './document-table.ts'

/**
 * The documents in a server's own folder: copies that follow what all servers agree on. They are read, and never decide anything; so
 * nothing is synced, and what is missing or torn after a crash is found when the folder is opened. Each change is one synchronous step.
 */
export class FollowedFolder {
  readonly #fs: Fs
  readonly #dir: string
  /** Which version the copies are of. */
  readonly #versions = new Map<string, number>()
  /** Versions by which documents were removed, in that order: what was read of them before must not bring them back. */
  readonly #removed = new Map<string, { readonly version: number; readonly at: number }>()

  constructor(fs: Fs, dir: string) {
    this.#fs = fs
    this.#dir = dir
  }

  /** The version of the copy; 0 where there is none. */
  version(path: string): number {
    return this.#versions.get(path) ?? 0
  }

  /** Takes in what was read elsewhere, as far as it is newer. */
  takeNews({ path, mode, parts }: DocumentNews): void {
    for (const part of parts) this.#takePart(path, mode, part)
  }

  /** Takes in a change that was made on the version `before`; false where the copy is of another and does not tell. */
  takeChange(path: string, before: number, mode: number | undefined, part: DocumentPart): boolean {
    if (!part.isWhole && this.version(path) < before) return false
    this.#takePart(path, mode, part)
    return true
  }

  /** Removes the copy, unless it is of a later version. `at` is the number of the last question that was asked by then. */
  takeRemoval({ path, version }: Pick<DocumentEntry, 'path' | 'version'>, at: number): void {
    if (this.#isNewer(path, version)) return
    this.#fs.remove(this.#pathOf(path))
    this.#versions.delete(path)
    this.#removed.delete(path) // it is the last one now
    this.#removed.set(path, { version, at })
  }

  /** There was nothing to read of it: what is not known to be a copy of something is none. */
  takeAbsence(path: string): void {
    if (this.version(path) === 0) this.#fs.remove(this.#pathOf(path))
  }

  /** What the copy holds is not known any more. */
  distrust(path: string): void {
    this.#versions.delete(path)
  }

  /** Every question before this one is answered: removals that only their answers could undo need not be remembered. */
  forgetRemovals(before: number): void {
    for (const [path, { at }] of this.#removed) {
      if (at >= before) return
      this.#removed.delete(path)
    }
  }

  /**
   * Compares the copies with what there is: answers those that have to be read again, and removes those of which there is no document. Copies
   * are the files that `isDocument` says yes to.
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

  /** Whether the copy is as new as this version, or newer. */
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

  /** The files below a folder of the store, but what lies in repositories and in folders of the server's own. */
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
