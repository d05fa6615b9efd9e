import { setMaxListeners } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { IntervalTally } from '../interval-tally.ts'

/** A kind of work that is done again and again, so many times a second. */
export interface SteadyTask {
  readonly name: string
  readonly perSecond: number
  readonly work: () => Promise<void>
}

/**
 * Does each task at its own rate. None is begun again before it is over, and what was missed is not made up for: a server that
 * is slow gets fewer requests, and never a flood of them. Answers how to stop, which waits for what is under way.
 */
export function startSteadyLoad(tasks: readonly SteadyTask[], tally: IntervalTally): () => Promise<void> {
  const stopping = new AbortController()
  // every task that waits listens
  setMaxListeners(tasks.length, stopping.signal)
  const working = tasks.map((task) => keepDoing(task, tally, stopping.signal))
  return async () => {
    stopping.abort()
    await Promise.all(working)
  }
}

async function keepDoing(
  { name, perSecond, work }: SteadyTask,
  tally: IntervalTally,
  signal: AbortSignal,
): Promise<void> {
  const every = 1000 / perSecond
  // Not all at once at the beginning.
  let due = performance.now() + Math.random() * every
  while (await until(due, signal)) {
    try {
      await work()
    } catch (error) {
      tally.went(`${name}: ${String(error)}`)
    }
    due = Math.max(due + every, performance.now())
  }
}

/** Waits; false if it is over meanwhile. */
async function until(due: number, signal: AbortSignal): Promise<boolean> {
  try {
    await pause(Math.max(0, due - performance.now()), undefined, { signal })
    return true
  } catch {
    return false
  }
}
