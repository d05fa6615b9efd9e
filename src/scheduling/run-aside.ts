import { Tinypool } from 'tinypool'
import { Refusal } from '../errors.ts'
import { Semaphore } from './semaphore.ts'

/** A function to be called in a thread: one that a built module exports, with an argument that can be sent there. */
export interface AsideCall {
  /** Its URL. */
  readonly module: string
  readonly name: string
  readonly argument: unknown
}

/** Each thread holds in memory what it works on. */
const MAX_THREADS = 2

/** So many calls may wait for a thread: whoever came behind them would wait long. */
export const MOST_WAITING_ASIDE = 100

const permits = new Semaphore(MAX_THREADS)

/**
 * Calls a function in a thread, so that nothing in the server waits for it: its work is one piece, however long it takes. `prepare` is asked
 * for the call when it is its turn, so that what waits holds nothing. Rejects with what the function throws, which has lost all but its
 * message, and with an error of the code ERR_WORKER_OUT_OF_MEMORY. Refuses with `overloaded` where too many wait already, and rejects with
 * the signal's reason when that comes before its turn; what has begun goes on to its end.
 */
export async function runAside<T>(
  prepare: () => AsideCall | Promise<AsideCall>,
  signal: AbortSignal = new AbortController().signal,
): Promise<T> {
  const release = await permits.acquire({ key: 'aside', signal, mostWaiting: MOST_WAITING_ASIDE })
  if (!release)
    throw new Refusal(
      'overloaded',
      `${MOST_WAITING_ASIDE} pieces of work on large documents wait already. Try again in a moment.`,
    )
  try {
    const answer: unknown = await pool().run(await prepare())
    return answer as T // what the function returns, as its caller knows
  } finally {
    release()
  }
}

let threads: Tinypool | undefined

/** Threads start when there is something to do, stay warm for a while, and keep no process alive. */
function pool(): Tinypool {
  if (threads) return threads
  threads = new Tinypool({
    // what runs is built, and built files end in .js
    filename: new URL('./aside-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: WARM_MS,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  // a thread that dies with nothing to do is missed by nobody
  threads.on('error', () => undefined)
  return threads
}

const WARM_MS = 60_000
