import type { Fs } from '../storage/fs.ts'
import { identityName, isDead, parseIdentity, thisProcess } from '../storage/process-identity.ts'

/** Where a new file takes longer than this, in milliseconds, another part of the disk is tried … */
const SLOW = 0.1
/** … after so many files: if it is as slow there, trying costs next to nothing. */
const FEWEST = 500

const self = identityName(thisProcess())
let names = 0

/** Names that tell whose what they name is. */
const ownName = (): string => `${self}.${++names}`

const folderIn = (store: string): string => `${store}/.spare`

/**
 * Where the spare files of a store are made: in a folder of it, until that becomes slow. To make a file, ext4 without a journal passes
 * over the inodes near it that were deleted in the last minutes: 0.02 ms grow to 0.8 once some thousand were. From then on files are
 * made in a sub folder that lies elsewhere on the disk, and in another one when that has become slow in its turn.
 */
export class SpareFolder {
  readonly #fs: Fs
  readonly #top: string
  #current: string
  /** The sub folders there are, which may hold files still. */
  readonly #subFolders = new Set<string>()
  /** Whether sub folders lie apart; undefined until that matters. */
  #isSpread: Promise<boolean> | undefined
  /** How many files were made since it moved; the first time it need not wait for them. */
  #made = FEWEST

  constructor(fs: Fs, store: string) {
    this.#fs = fs
    this.#top = folderIn(store)
    this.#current = this.#top
  }

  /** Where so many new files may be made. */
  newPaths(count: number): readonly string[] {
    if (!this.#fs.stat(this.#current)) this.#fs.makeDir(this.#current)
    return Array.from({ length: count }, () => `${this.#current}/${ownName()}`)
  }

  /** Takes note that so many files were made, and how many milliseconds one of them took. */
  async made(count: number, each: number): Promise<void> {
    this.#made += count
    if (each > SLOW && this.#made >= FEWEST) await this.#move()
  }

  /** Removes sub folders in which nothing is any more; before the end also the one in use. */
  tidy({ isEnding = false } = {}): void {
    for (const folder of this.#subFolders) {
      if (folder === this.#current && !isEnding) continue
      if (this.#fs.removeFolder(folder)) this.#subFolders.delete(folder)
    }
  }

  async #move(): Promise<void> {
    this.#made = 0
    this.#isSpread ??= this.#fs.spreadFolders?.(this.#top) ?? Promise.resolve(false)
    if (!(await this.#isSpread)) return
    this.#current = `${this.#top}/${ownName()}`
    this.#subFolders.add(this.#current)
  }
}

/** Removes what dead processes of this host left lying ready. */
export function sweepSpareFiles(fs: Fs, store: string): void {
  for (const name of fs.readDir(folderIn(store)) ?? []) {
    const owner = parseIdentity(name)
    if (!owner || !isDead(owner)) continue
    const path = `${folderIn(store)}/${name}`
    if (fs.stat(path)?.kind === 'folder') fs.removeTree(path)
    else fs.remove(path)
  }
}
