import { LRUCache } from 'lru-cache'

/** What an entry of a cache costs beside its bytes, roughly: the objects, closures and map slots around them. */
export const CACHE_ENTRY = 512

/** How long nobody must have asked for something, in milliseconds, before it counts as gone. */
const UNUSED_FOR_MS = 2 * 60 * 1000

/**
 * A cache of what can be had again: what was used least recently goes first once all of it is larger than `maxSize`, and what nobody asked
 * for in two minutes counts as gone. `sizeOf` is in bytes, or whatever `maxSize` counts; what is larger than half of it is not kept.
 */
export function recentlyUsed<K extends NonNullable<unknown>, V extends NonNullable<unknown>>(
  maxSize: number,
  sizeOf: (value: V) => number,
): LRUCache<K, V> {
  return new LRUCache<K, V>({
    maxSize,
    maxEntrySize: maxSize / 2,
    sizeCalculation: sizeOf,
    ttl: UNUSED_FOR_MS,
    updateAgeOnGet: true,
  })
}
