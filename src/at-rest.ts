import { setTimeout as wait } from 'node:timers/promises'

/** How long work at rest goes on at a stretch, in milliseconds … */
const PIECE_MS = 2
/** … and how many times as long it rests then. */
const REST = 3

/**
 * Takes a step for each item while others have the machine: two milliseconds at a stretch, or one step where that takes longer, and a
 * quarter of the time at most. Rejects once `stop` comes, and with what a step throws.
 */
export async function atRest<T>(
  items: Iterable<T>,
  stop: AbortSignal,
  step: (item: T) => Promise<unknown>,
): Promise<void> {
  let began = performance.now()
  for (const item of items) {
    stop.throwIfAborted()
    await step(item)
    const took = performance.now() - began
    if (took < PIECE_MS) continue
    await wait(REST * took, undefined, { signal: stop, ref: false })
    began = performance.now()
  }
}
