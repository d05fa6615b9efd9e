import { Tinypool } from 'tinypool'
import { Refusal } from '../../errors.ts'
import { Semaphore } from './semaphore.ts'

/** A function to call in a thread: exported by a built module, with an argument that can be sent there. */
export interface AsideCall {
  /** Its URL. */
  readonly module: string
  readonly name: string
  readonly argument: unknown
}

/** Each thread holds its work in memory. */
const MAX_THREADS = 2

/** Maximum number of calls that wait for a thread; later ones would wait too long. */
export const MOST_WAITING_ASIDE = 100

const permits = new Semaphore(MAX_THREADS)

/**
 * Calls a function in a thread, so that long uninterruptible work does not block the server. `prepare` is
 * called when it is the call's turn, so that waiting calls hold no data. Rejects with what the function
 * throws, reduced to its message, and with an error of the code ERR_WORKER_OUT_OF_MEMORY. Throws `overloaded`
 * if too many calls wait, and the signal's reason if it is aborted before the call's turn; a call that has
 * begun runs to its end.
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

/** Threads start on demand, stay warm for a while, and do not keep the process alive. */
function pool(): Tinypool {
  if (threads) return threads
  threads = new Tinypool({
    // workers run the built file, which ends in .js
    filename: new URL('./aside-thread.js', import.meta.url).href,
    minThreads: 0,
    maxThreads: MAX_THREADS,
    idleTimeout: WARM_MS,
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 1024 },
  })
  // an idle thread that dies is not missed
  threads.on('error', () => undefined)
  return threads
}

const WARM_MS = 60_000
