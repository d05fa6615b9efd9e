import { Worker } from 'node:worker_threads'

/** What the thread does with each of the paths it is given: make an empty file, remove a file, sync a file or folder. */
export type DiskChore = 'createEmpty' | 'remove' | 'sync'

/** What the thread is asked for. */
export type AskedChore = { readonly id: number } & (PathChore | JournalChore)

interface PathChore {
  readonly chore: DiskChore
  readonly paths: readonly string[]
}

interface JournalChore {
  readonly store: string
  readonly journal: string
}

/** What became of a chore: without `message` it is done. */
export interface ChoreReply {
  readonly id: number
  readonly message?: string
  readonly code?: string | undefined
}

const waiting = new Map<number, Waiting>()
let worker: Worker | undefined
let chores = 0

/**
 * Does something with many paths, one after the other, after all that was asked for before, in a thread that does nothing else: one
 * hand-over in place of one a file, each of which costs the caller more than the file. Rejects with node's error at the first
 * path that fails, and leaves the rest.
 */
export function doDiskChore(chore: DiskChore, paths: readonly string[]): Promise<void> {
  return paths.length === 0 ? Promise.resolve() : ask({ chore, paths })
}

/** Has the thread do what `settleJournal` does, beside other chores. */
export function settleInThread(store: string, journal: string): Promise<void> {
  return ask({ store, journal })
}

function ask(chore: PathChore | JournalChore): Promise<void> {
  const thread = (worker ??= startThread())
  return new Promise((resolve, reject) => {
    const id = ++chores
    waiting.set(id, { resolve, reject })
    thread.ref()
    thread.postMessage({ id, ...chore } satisfies AskedChore)
  })
}

function startThread(): Worker {
  // what runs is built, and built files end in .js
  const thread = new Worker(new URL('./disk-chore-thread.js', import.meta.url), {
    env: {},
    resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 256 },
  })
  thread.on('message', ({ id, message, code }: ChoreReply) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    // an idle thread keeps no process alive
    if (waiting.size === 0) thread.unref()
    if (message === undefined) asked?.resolve()
    else asked?.reject(Object.assign(new Error(message), { code }))
  })
  const ended = (reason: Error): void => {
    if (worker !== thread) return
    worker = undefined
    for (const { reject } of waiting.values()) reject(reason)
    waiting.clear()
  }
  thread.on('error', ended)
  thread.on('exit', () => ended(new Error('the thread of the disk ended')))
  return thread
}

interface Waiting {
  readonly resolve: () => void
  readonly reject: (reason: Error) => void
}
