import { randomUUID } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { FileStat, Fs, ReadHandle } from './fs.ts'
import { readEpoch } from '../../base/scheduling.ts'

/** Bytes of a log's first line, which no other log has: a file that is deleted may leave its inode to the next one. */
const NAME = 41

/** Past this size the log is begun anew; readers that notice look at everything once. */
const LONGEST = 16 * 1024 * 1024

/**
 * How the server processes of one project tell each other which repositories they wrote to: the file `changes`, one line
 * `<process> <family>/<slug>` a write, appended after the write is on the disk and before it is answered. It carries no
 * truth, only "look there": it is never synced and may be deleted at any time.
 */
export class ChangeFeed {
  readonly #fs: Fs
  readonly #path: string
  readonly #writer: string
  #inode = 0
  #name = ''
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
  publish(repository: string): void {
    const line = Buffer.from(`${this.#writer} ${repository}\n`)
    try {
      if (!this.#fs.stat(this.#path)) this.#fs.append(this.#path, Buffer.from(`log-${randomUUID()}\n`))
      this.#fs.append(this.#path, line)
      this.#own += line.length
    } catch {
      // The write itself is safe on the disk; the others find it by their regular sweep, two seconds later at most.
    }
  }

  /**
   * The repositories that others wrote to since the last call (requests that came in together share one look), or `everything` when that
   * cannot be told.
   */
  poll(): ReadonlySet<string> | 'everything' {
    const turn = readEpoch()
    if (this.#turn === turn) return NOTHING
    this.#turn = turn
    return this.pollAfresh()
  }

  /** The same, looked at afresh. */
  pollAfresh(): ReadonlySet<string> | 'everything' {
    const stat = this.#fs.stat(this.#path)
    if (!stat) return this.#lose()
    const isSameFile = stat.inode === this.#inode && stat.size >= this.#read
    // Lines are appended whole, so growth by our own bytes alone is our own lines alone.
    const isOwn = isSameFile && stat.size === this.#read + this.#own
    const news = isOwn ? NOTHING : this.#newsIfReadable(stat, isSameFile)
    this.#inode = stat.inode
    this.#read = stat.size
    this.#own = 0
    if (this.#read > LONGEST) this.#beginAnew()
    return news
  }

  /** Where nobody may read the log, sweeps find what others wrote. */
  #newsIfReadable(stat: FileStat, isSameFile: boolean): ReadonlySet<string> | 'everything' {
    try {
      return this.#readNews(stat, isSameFile)
    } catch (error) {
      if (error instanceof Refusal) throw error
      return NOTHING
    }
  }

  /** What others announced since the last look; everything, if it is not the file of the last look. */
  #readNews({ size }: FileStat, isSameFile: boolean): ReadonlySet<string> | 'everything' {
    const handle = this.#fs.open(this.#path)
    try {
      const before = this.#name
      this.#name = textIn(handle, 0, Math.min(size, NAME)).split('\n', 1)[0] ?? ''
      if (!isSameFile || this.#name !== before) return 'everything'
      const others = new Set<string>()
      for (const line of textIn(handle, this.#read, size).split('\n')) {
        const [writer, repository] = line.split(' ')
        if (repository !== undefined && writer !== this.#writer) others.add(repository)
      }
      return others
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

function textIn(handle: ReadHandle | undefined, from: number, end: number): string {
  const bytes = Buffer.alloc(end - from)
  return bytes.toString('utf8', 0, handle?.read(bytes, from))
}

const NOTHING: ReadonlySet<string> = new Set()
