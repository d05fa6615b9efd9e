import type { Fs } from '../../../storage/fs.ts'
import { readAllRefs } from '../../refs/list-refs.ts'
import { foldersOf, placeOf } from './copy.ts'
import { COPY_FOLDER } from '../../refuse-copy.ts'
import { repositoriesIn } from './repair.ts'
import type { RepositoryState } from '../shared-log.ts'

const MAX_REFS_NAMED = 3

/** The folder of a server that follows a log, looked at from outside; nothing is written to it. */
export class CopyOnDisk {
  readonly #fs: Fs
  readonly #dir: string

  constructor(fs: Fs, dir: string) {
    this.#fs = fs
    this.#dir = dir
  }

  /** Whether it is one at all. */
  get isThere(): boolean {
    return this.#fs.stat(`${this.#dir}/${COPY_FOLDER}`) !== undefined
  }

  /** Whether a server may be at work in it. */
  get isInUse(): boolean {
    return this.#fs.stat(`${this.#dir}/${COPY_FOLDER}/server.lock`) !== undefined
  }

  /** What it has, by the names that the log has for it. */
  repositories(): readonly string[] {
    return repositoriesIn({ fs: this.#fs, dir: this.#dir })
  }

  /** Where a repository is in it; undefined if it is not there. */
  pathOf(repository: string): string | undefined {
    return placeOf({ fs: this.#fs, dir: this.#dir }, repository)
  }

  /**
   * In what a repository is not what the log has, undefined for one that the log has not: a few words for each thing. Refuses a damaged ref by
   * its name.
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
