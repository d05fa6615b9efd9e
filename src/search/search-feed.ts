import { setTimeout as wait } from 'node:timers/promises'
import type { Registry } from '../versioning/registry.ts'
import { unlessDamaged } from '../versioning/index/unless-damaged.ts'
import type { Unsearched } from '../versioning/index/database/unsearched.ts'
import type { SearchDocument } from './index/documents.ts'
import { SEARCH_FIELDS } from './index/documents.ts'
import { searchedAt } from './searched-at.ts'
import { textsOf } from './texts-of.ts'

/** So many documents are written in one go. */
const BATCH = 25
/** So many of the newest are written before a question is answered: all that was written since the last one, most often. */
const BEFORE_A_QUESTION = 500
/** How long it rests after each batch, times what that took … */
const REST = 9
/** … and how long what is new waits for others, in milliseconds: by then the index has its rows. */
const LATER = 2500

/** Has what is new in a project found by its words: the newest first, and before anybody asks. */
export class SearchFeed {
  readonly #registry: Registry
  readonly #write: (documents: readonly SearchDocument[]) => Promise<number>
  readonly #stop = new AbortController()
  #turn: Promise<unknown> = Promise.resolve()
  #running: Promise<void> | undefined
  #isMore = false
  #unwatch: () => void

  constructor(registry: Registry, write: (documents: readonly SearchDocument[]) => Promise<number>) {
    this.#registry = registry
    this.#write = write
    this.#unwatch = registry.index.watch(() => this.#start())
    this.#start()
  }

  /** Writes the newest of what is to be written; what is left of an index that is made anew follows by and by. */
  async catchUp(): Promise<void> {
    for (let left = BEFORE_A_QUESTION; left > 0 && (await this.#next()) === BATCH;) left -= BATCH
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
        const began = performance.now()
        isDone = (await this.#next()) === 0
        await pause(REST * (performance.now() - began))
      }
    }
  }

  /** Writes a few; answers how many were not as they are by now. */
  #next(): Promise<number> {
    const turn = this.#turn.then(async () => {
      const unsearched = this.#registry.index.database.unsearched(BATCH)
      const documents: SearchDocument[] = []
      for (const one of unsearched) {
        const document = await this.#documentOf(one)
        if (document) documents.push(document)
      }
      return documents.length > 0 ? this.#write(documents) : 0
    })
    this.#turn = turn.catch(() => undefined)
    return turn
  }

  /** Undefined where the artifact is gone by now. What cannot be read is found by nothing. */
  async #documentOf({ number, path, oid }: Unsearched): Promise<SearchDocument | undefined> {
    const artifact = this.#registry.index.viewAt(path)
    if (!artifact) return undefined
    const read = () => searchedAt(this.#registry, artifact, oid)
    const searched = await unlessDamaged(this.#registry, artifact, read)
    const found = searched ? textsOf(searched) : []
    const texts = SEARCH_FIELDS.map((field) => [
      field,
      found.flatMap((it) => (it.field === field ? it.text : [])),
    ])
    // Every field is among them.
    return { number, meta: artifact.metaCommit, texts: Object.fromEntries(texts) as SearchDocument['texts'] }
  }
}
