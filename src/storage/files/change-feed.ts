import { randomUUID } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { FileStat, Fs, ReadHandle } from './fs.ts'
import { readEpoch } from '../../base/scheduling.ts'

/** Random bytes in the first line of a log. After a log is deleted, a new one may have its inode, but not these bytes. */
const NAME = 41

/** A log above this size is begun anew. Readers that notice it look at everything once. */
const LONGEST = 16 * 1024 * 1024

/**
 * The file `changes`, by which the server processes of one project tell each other of their writes. Each write appends a line `<process>
 * <family>/<slug>`, after it is on the disk and before it is answered. The line only says where to look: the file is never synced, and may be
 * deleted at any time.
 */
export class ChangeFeed {
  readonly #fs: Fs
  readonly #path: string
  readonly #writer: string
  #inode = 0
  #name = ''
  #read = 0
  /** The bytes of our own lines since the last look. If the log grew by no more, there is nothing to read. */
  #own = 0
  #turn: number | undefined

  /** `writer` is the name of this process; its own lines are not reported to it. */
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
      // The write itself is on the disk. Other processes find it by their sweeps, at most two seconds later.
    }
  }

  /**
   * The repositories to which others wrote since the last call, or `everything` if that is unknown. Requests that came in together share one look.
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
    // Lines are appended whole. So if the log grew exactly by our own bytes, it has no other new lines.
    const isOwn = isSameFile && stat.size === this.#read + this.#own
    const news = isOwn ? NOTHING : this.#newsIfReadable(stat, isSameFile)
    this.#inode = stat.inode
    this.#read = stat.size
    this.#own = 0
    if (this.#read > LONGEST) this.#beginAnew()
    return news
  }

  /** If the log cannot be read, sweeps find the writes of others. */
  #newsIfReadable(stat: FileStat, isSameFile: boolean): ReadonlySet<string> | 'everything' {
    try {
      return this.#readNews(stat, isSameFile)
    } catch (error) {
      if (error instanceof Refusal) throw error
      return NOTHING
    }
  }

  /** The lines of others since the last look; everything, if it is another file than at the last look. */
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

  /** The log is gone, perhaps with unread lines. */
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
