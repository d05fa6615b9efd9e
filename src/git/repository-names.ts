import { dirname } from 'node:path/posix'
import type { FileStat, Fs } from '../storage/fs.ts'
import { isDead, parseIdentity } from '../storage/process-identity.ts'
import { BUILD_PREFIX } from './create-repository.ts'
import { journalsOf } from './journal/journal-folder.ts'

/** The slugs in a folder when it had this time. */
interface ListedFolder extends Pick<FileStat, 'modified' | 'inode'> {
  readonly slugs: readonly string[]
}

const NO_SLUGS: readonly string[] = []

/** A folder that changed longer ago (milliseconds) will show its next change: file systems keep times as coarsely as two seconds. */
const SETTLED = 2100

/** The names of a project's repositories, family by family. */
export class RepositoryNames {
  readonly #fs: Fs
  readonly #folder: string
  /** What was last read of the folders of families. */
  readonly #listed = new Map<string, ListedFolder>()

  constructor(fs: Fs, folder: string) {
    this.#fs = fs
    this.#folder = folder
  }

  /**
   * The names `<slug>.git` in a family's folder, as slugs: the same array as long as none came or went. Builds that a dead process left
   * behind are removed.
   */
  slugs(family: string): readonly string[] {
    const folder = `${this.#folder}/${family}`
    const stat = this.#fs.stat(folder)
    if (!stat) return NO_SLUGS
    const known = this.#listed.get(family)
    if (known && known.modified === stat.modified && known.inode === stat.inode) return known.slugs
    const slugs = this.#namesIn(folder)
    // A folder that changed just now may change again without its time showing it, and a link to one on another disk never shows it.
    if (stat.kind === 'folder' && Date.now() - stat.modified > SETTLED)
      this.#listed.set(family, { slugs, ...stat })
    else this.#listed.delete(family)
    return slugs
  }

  #namesIn(folder: string): readonly string[] {
    const slugs = []
    for (const name of this.#fs.readDir(folder) ?? []) {
      if (name.endsWith('.git') && !name.startsWith('.')) slugs.push(name.slice(0, -'.git'.length))
      else if (name.startsWith(BUILD_PREFIX)) this.#removeIfDead(folder, name)
    }
    return slugs
  }

  #removeIfDead(folder: string, name: string): void {
    const owner = parseIdentity(name.slice(BUILD_PREFIX.length))
    // What its journal tells of was decided, and gets its name first.
    if (owner && isDead(owner) && journalsOf(this.#fs, dirname(this.#folder), owner).length === 0)
      this.#fs.removeTree(`${folder}/${name}`)
  }
}
