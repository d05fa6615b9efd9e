import { setTimeout as wait } from 'node:timers/promises'
import type { Registry } from '../../registry.ts'

/** Those who waited for the server to start come first: so many milliseconds pass before anything is filled. */
const LATER = 5000

/**
 * Reads the revisions of these projects into their timelines while nothing else is to be done, one family after the other. Answers how to
 * end that.
 */
export function fillTimelines(registries: readonly Registry[]): () => void {
  const stop = new AbortController()
  // What cannot be read here fails the queries that need it, and they say so.
  fillAll(registries, stop.signal).catch(() => undefined)
  return () => stop.abort()
}

async function fillAll(registries: readonly Registry[], stop: AbortSignal): Promise<void> {
  await wait(LATER, undefined, { signal: stop, ref: false })
  for (const registry of registries) {
    for (const family of registry.families) await registry.timeline(family).fill(stop)
  }
}
