import type { Fs } from './fs.ts'
import { currentTurn } from './turn.ts'

/** Past this size the log is begun anew; readers that notice look at everything once. */
const LONGEST = 1024 * 1024

/**
 * How the server processes of one project tell each other which repositories they wrote to: the file `changes`, one line
 * `<process> <family>/<slug>` a write, appended after the write is on the disk and before it is answered. It carries no
 * truth, only "look there": it is never synced and may be deleted at any time.
 */
export class ChangeLog {
  readonly #fs: Fs
  readonly #path: string
  readonly #writer: string
  #inode = 0
  #read = 0
  #turn: number | undefined

  /** `writer` names this reader and writer; its own lines are not told back to it. */
  constructor(fs: Fs, folder: string, writer: string) {
    this.#fs = fs
    this.#path = `${folder}/changes`
    this.#writer = writer
  }

  /** Tells the others that `repository` (`<family>/<slug>`) changed. */
  announce(repository: string): void {
    try {
      this.#fs.append(this.#path, Buffer.from(`${this.#writer} ${repository}\n`))
    } catch {
      // The write itself is safe on the disk; the others find it by their regular sweep, two seconds later at most.
    }
  }

  /** The repositories that others wrote to since the last call (requests that came in together share one look), or `everything` when that cannot be told. */
  news(): ReadonlySet<string> | 'everything' {
    const turn = currentTurn()
    if (this.#turn === turn) return NOTHING
    this.#turn = turn
    return this.freshNews()
  }

  /** The same, looked at afresh. */
  freshNews(): ReadonlySet<string> | 'everything' {
    const stat = this.#fs.stat(this.#path)
    if (!stat) return this.#lose()
    if (stat.inode === this.#inode && stat.size === this.#read) return NOTHING
    const bytes = this.#fs.readFile(this.#path)
    const isContinued = stat.inode === this.#inode && bytes !== undefined && bytes.length >= this.#read
    const from = isContinued ? this.#read : 0
    const end = (bytes?.lastIndexOf(10) ?? -1) + 1
    this.#inode = stat.inode
    this.#read = end
    if (end > LONGEST) this.#beginAnew()
    if (!isContinued) return 'everything'
    const others = new Set<string>()
    for (const line of bytes.toString('utf8', from, end).split('\n')) {
      const [writer, repository] = line.split(' ')
      if (repository !== undefined && writer !== this.#writer) others.add(repository)
    }
    return others
  }

  #beginAnew(): void {
    this.#fs.remove(this.#path)
    this.#lose()
  }

  /** The log is gone: if there was one, lines may have gone with it unread. */
  #lose(): ReadonlySet<string> | 'everything' {
    const had = this.#inode !== 0
    this.#inode = 0
    this.#read = 0
    return had ? 'everything' : NOTHING
  }
}

const NOTHING: ReadonlySet<string> = new Set()
