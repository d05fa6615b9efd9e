import { Worker } from 'node:worker_threads'

/**
 * What the thread does with each of the paths it is given: make an empty file, remove a file, sync a file or folder, have what is made
 * in a folder lie far apart (see Fs.spreadFolders).
 */
export type DiskChore = 'createEmpty' | 'remove' | 'sync' | 'spread'

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
  /** How many milliseconds one path took: the one in the middle. */
  readonly each?: number
  readonly message?: string
  readonly code?: string | undefined
}

const waiting = new Map<number, Waiting>()
let worker: Worker | undefined
let chores = 0

/**
 * Does something with many paths, one after the other, after all that was asked for before, in a thread that does nothing else: one
 * hand-over in place of one a file, each of which costs the caller more than the file. Answers how many milliseconds one path took:
 * the one in the middle. Rejects with node's error at the first path that fails, and leaves the rest.
 */
export function doDiskChore(chore: DiskChore, paths: readonly string[]): Promise<number> {
  return paths.length === 0 ? Promise.resolve(0) : ask({ chore, paths })
}

/** Has the thread do what `checkpointJournal` does, beside other chores. */
export async function settleInThread(store: string, journal: string): Promise<void> {
  await ask({ store, journal })
}

function ask(chore: PathChore | JournalChore): Promise<number> {
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
  thread.on('message', ({ id, each = 0, message, code }: ChoreReply) => {
    const asked = waiting.get(id)
    waiting.delete(id)
    // an idle thread keeps no process alive
    if (waiting.size === 0) thread.unref()
    if (message === undefined) asked?.resolve(each)
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
  readonly resolve: (each: number) => void
  readonly reject: (reason: Error) => void
}
