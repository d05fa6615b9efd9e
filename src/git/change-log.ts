import type { Fs } from './fs.ts'
import { currentTurn } from './turn.ts'

/** Past this size the log is begun anew; readers that notice look at everything once. */
const LONGEST = 16 * 1024 * 1024

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
  /** Bytes of our own lines since the last look; if the log grew by no more, there is nothing to read. */
  #own = 0
  #turn: number | undefined

  /** `writer` names this reader and writer; its own lines are not told back to it. */
  constructor(fs: Fs, folder: string, writer: string) {
    this.#fs = fs
    this.#path = `${folder}/changes`
    this.#writer = writer
  }

  /** Tells the others that `repository` (`<family>/<slug>`) changed. */
  announce(repository: string): void {
    const line = Buffer.from(`${this.#writer} ${repository}\n`)
    try {
      this.#fs.append(this.#path, line)
      this.#own += line.length
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
    const isContinued = stat.inode === this.#inode && stat.size >= this.#read
    const isOwn = isContinued && stat.size === this.#read + this.#own
    const news = isOwn ? NOTHING : isContinued ? this.#readUntil(stat.size) : 'everything'
    this.#inode = stat.inode
    this.#read = stat.size
    this.#own = 0
    if (this.#read > LONGEST) this.#beginAnew()
    return news
  }

  /** What others announced since the last look; lines are appended whole. */
  #readUntil(end: number): ReadonlySet<string> {
    const others = new Set<string>()
    for (const line of this.#textUntil(end).split('\n')) {
      const [writer, repository] = line.split(' ')
      if (repository !== undefined && writer !== this.#writer) others.add(repository)
    }
    return others
  }

  #textUntil(end: number): string {
    const bytes = Buffer.alloc(end - this.#read)
    const handle = this.#fs.open(this.#path)
    try {
      return bytes.toString('utf8', 0, handle?.read(bytes, this.#read))
    } finally {
      handle?.close()
    }
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
    this.#own = 0
    return had ? 'everything' : NOTHING
  }
}

const NOTHING: ReadonlySet<string> = new Set()
