import { setTimeout as wait } from 'node:timers/promises'
import type { Registry } from '../versioning/registry.ts'

/** A part of what is searched. */
export interface FeedSource {
  /** So many times it is asked to go on before a question is answered: mostly, that is all of what was written since the last one. */
  readonly beforeQuestion: number
  /** How long it rests each time while nobody asks, times what that took. */
  readonly rest: number
  /** Has a few of what is new found. Answers whether there was something, and so may be more. */
  next(): Promise<boolean>
}

/** How long what is new waits for others, in milliseconds: by then the index has its rows. */
const LATER = 2500

/** Has what is new in a project found by its words, before anybody asks and before a question is answered. */
export class SearchFeed {
  readonly #sources: readonly FeedSource[]
  readonly #stop = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()
  #running: Promise<void> | undefined
  #isMore = false
  #unwatch: () => void

  constructor({ index }: Registry, sources: readonly FeedSource[]) {
    this.#sources = sources
    this.#unwatch = index.watch(() => this.#start())
    this.#start()
  }

  /** Writes the newest of what is to be written; what is left of very much follows by and by. */
  async catchUp(): Promise<void> {
    for (const source of this.#sources)
      for (let left = source.beforeQuestion; left > 0 && (await this.#next(source)); left--);
  }

  /** Resolves once nothing of it is under way any more. */
  async close(): Promise<void> {
    this.#unwatch()
    this.#stop.abort()
    await this.#running
    await this.#turn
  }

  #start(): void {
    if (this.#stop.signal.aborted) return
    this.#isMore = true
    this.#running ??= this.#run()
      // It closes, or the disk fails: a question says so, and the next change tries again.
      .catch(() => undefined)
      .finally(() => (this.#running = undefined))
  }

  async #run(): Promise<void> {
    const pause = (ms: number): Promise<void> =>
      wait(ms, undefined, { signal: this.#stop.signal, ref: false })
    while (this.#isMore) {
      this.#isMore = false
      await pause(LATER)
      for (let isDone = false; !isDone;) {
        isDone = true
        for (const source of this.#sources) {
          const began = performance.now()
          if (!(await this.#next(source))) continue
          isDone = false
          await pause(source.rest * (performance.now() - began))
        }
      }
    }
  }

  /** One at a time, whoever wants it. */
  #next(source: FeedSource): Promise<boolean> {
    const turn = this.#turn.then(() => source.next())
    this.#turn = turn.catch(() => undefined)
    return turn
  }
}
