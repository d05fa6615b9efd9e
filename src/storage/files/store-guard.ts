import { Refusal } from '../../errors.ts'
import type { FileStat, Fs, ReadHandle } from './fs.ts'
import { readEpoch } from '../../base/scheduling.ts'

/** Milliseconds between two looks whether a store is back. */
const LOOK_EVERY = 250

/**
 * Tells whether the folder of a store is still the one that was opened. A volume may be unmounted; then there is nothing at its path, or another
 * store. The store is recognised by its file `format`, which is held open, so that no other file can get its inode.
 */
export class StoreGuard {
  readonly #fs: Fs
  readonly #path: string
  readonly #opened: FileStat
  readonly #content: string
  readonly #handle: ReadHandle | undefined
  readonly #watchers = new Set<(problem: Refusal | undefined) => void>()
  readonly #returns: (() => Promise<void>)[] = []
  #problem: Refusal | undefined
  #turn: number | undefined
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  /** `fs` is without this guard; the file at `path` must exist. */
  constructor(fs: Fs, path: string) {
    const opened = fs.stat(path)
    if (!opened) throw new Error(`${path} is guarded before it is made`)
    this.#fs = fs
    this.#path = path
    this.#opened = opened
    this.#handle = fs.open(path)
    this.#content = fs.readFile(path)?.toString('utf8') ?? ''
  }

  /** Refuses with `storage_unavailable` while the store is missing. It looks at the disk once in each turn of the event loop (see readEpoch). */
  assertThere(): void {
    const turn = readEpoch()
    if (turn !== this.#turn) {
      this.#turn = turn
      this.#look()
    }
    if (this.#problem) throw this.#problem
  }

  /** The same with a new look, for a caller that is about to answer. */
  assertStillThere(): void {
    this.#look()
    if (this.#problem) throw this.#problem
  }

  /** Why the store cannot be used; undefined if it can. */
  get problem(): Refusal | undefined {
    this.#look()
    return this.#problem
  }

  /** Calls `watcher` when the store goes, with the reason, and when it is back. */
  watch(watcher: (problem: Refusal | undefined) => void): void {
    this.#watchers.add(watcher)
  }

  /** Adds work to be done when the store is back, before anybody else may use it. If it fails, it is done again a moment later. */
  onReturn(work: () => Promise<void>): void {
    this.#returns.push(work)
  }

  /** Ends the looks. It may be called twice: closing a descriptor twice could close another file. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#handle?.close()
  }

  #look(): void {
    if (this.#problem || this.#isClosed) return
    const problem = this.#problemNow()
    if (!problem) return
    this.#problem = problem
    this.#tell()
    this.#lookLater()
  }

  #lookLater(): void {
    if (!this.#isClosed) this.#timer = setTimeout(() => void this.#lookForReturn(), LOOK_EVERY).unref()
  }

  async #lookForReturn(): Promise<void> {
    const problem = this.#problemNow()
    try {
      if (problem) this.#problem = problem
      else {
        for (const work of this.#returns) await work()
        this.#problem = this.#problemNow()
      }
    } catch {
      // The store is back, but the work before its use cannot be done yet.
    }
    if (this.#problem) this.#lookLater()
    else this.#tell()
  }

  #tell(): void {
    for (const watcher of this.#watchers) watcher(this.#problem)
  }

  #problemNow(): Refusal | undefined {
    try {
      const stat = this.#fs.stat(this.#path)
      if (!stat) return gone('its folder is not there')
      const { inode, device, modified, size } = this.#opened
      const isUnchanged = stat.inode === inode && stat.modified === modified && stat.size === size
      if (isUnchanged) return undefined // Also if it came back as another device.
      const content = this.#fs.readFile(this.#path)?.toString('utf8')
      if (content !== undefined && content.trim() !== this.#content.trim()) return changed(content.trim())
      return stat.inode === inode && stat.device === device ? undefined : gone('another one is in its place')
    } catch (error) {
      return gone(
        `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'for no reason that is known'})`,
      )
    }
  }
}

/**
 * `fs` for the files of a store: while the store is missing, every call refuses with `storage_unavailable`. So nothing is written to its path, and
 * nothing counts as absent. Open files can still be read and written.
 */
export function guardedFs(fs: Fs, guard: StoreGuard): Fs {
  const guarded: Record<string, unknown> = { ...fs }
  for (const [name, call] of Object.entries(fs) as [string, unknown][]) {
    if (typeof call !== 'function') continue
    const guardedCall = (...args: readonly unknown[]): unknown => {
      guard.assertThere()
      return Reflect.apply(call, fs, args) as unknown
    }
    guarded[name] = WAITING.has(name)
      ? async (...args: readonly unknown[]) => guardedCall(...args)
      : guardedCall
  }
  return guarded as unknown as Fs // with the calls of `fs`
}

/** The methods with a promise, which reject instead of throwing. */
const WAITING: ReadonlySet<string> = new Set<keyof Fs>([
  'createSynced',
  'sync',
  'syncAll',
  'removeAll',
  'syncDir',
])

function gone(why: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `The store that this server opened is gone: ${why}. Nothing is read or written until it is back. Put it back, and the server goes on ` +
      `by itself; or start the server anew to use what is there.`,
  )
}

function changed(format: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `The store has format ${JSON.stringify(format.slice(0, 20))} now, which this server does not know. Start the version that made it that.`,
  )
}
