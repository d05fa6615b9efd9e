import type { Fs } from '../../../storage/files.ts'
import { readAllRefs } from '../../../git/refs.ts'
import { foldersOf, placeOf } from './copy.ts'
import { COPY_FOLDER } from '../../../git/store.ts'
import { repositoriesIn } from './repair.ts'
import type { RepositoryState } from '../shared-log.ts'

const MAX_REFS_NAMED = 3

/** A server's copy of the database, read from outside, for example by `verify`. Never writes to the folder. */
export class CopyOnDisk {
  readonly #fs: Fs
  readonly #dir: string

  constructor(fs: Fs, dir: string) {
    this.#fs = fs
    this.#dir = dir
  }

  /** Whether the folder is such a copy. */
  get isThere(): boolean {
    return this.#fs.stat(`${this.#dir}/${COPY_FOLDER}`) !== undefined
  }

  /** Whether a server may be using the copy. */
  get isInUse(): boolean {
    return this.#fs.stat(`${this.#dir}/${COPY_FOLDER}/server.lock`) !== undefined
  }

  /** The repositories in the copy, by their names in the log. */
  repositories(): readonly string[] {
    return repositoriesIn({ fs: this.#fs, dir: this.#dir })
  }

  /** The path of a repository in the copy; undefined if it is absent. */
  pathOf(repository: string): string | undefined {
    return placeOf({ fs: this.#fs, dir: this.#dir }, repository)
  }

  /**
   * The differences between a repository's folder and its state in the log, one phrase each. `state` is undefined if the log does not have
   * the repository. Throws a Refusal that names a damaged ref.
   */
  differencesFrom(repository: string, state: RepositoryState | undefined): readonly string[] {
    const found = this.pathOf(repository)
    if (found === undefined) return state ? ['it is not in the folder'] : []
    if (!state) return ['it is in the folder only']
    const isTrashed = found === foldersOf({ dir: this.#dir }, repository).trashed
    if (isTrashed !== (state.trashed !== undefined))
      return [isTrashed ? 'it is in the trash in the folder only' : 'it is in the trash in the database only']
    const { refs, head } = readAllRefs(this.#fs, found)
    const names = [...new Set([...refs.keys(), ...state.refs.keys()])]
    const others = names.filter((name) => refs.get(name) !== state.refs.get(name))
    const told = others
      .slice(0, MAX_REFS_NAMED)
      .map(
        (name) =>
          `${name} is ${refs.get(name) ?? 'not'} in the folder and ${state.refs.get(name) ?? 'not'} in the database`,
      )
    if (others.length > told.length) told.push(`${others.length - told.length} more refs differ`)
    if (head !== `ref: refs/heads/${state.head}`)
      told.push(`HEAD names ${head} in the folder and ${state.head} in the database`)
    return told
  }
}
