import { LRUCache } from 'lru-cache'

/** Approximate bytes of a cache entry beside its content: objects, closures and map slots. */
export const CACHE_ENTRY = 512

/** After this time without use, in milliseconds, an entry counts as gone. */
const UNUSED_FOR_MS = 2 * 60 * 1000

/**
 * A cache of values that can be computed again. When all entries exceed `maxSize`, the least recently used ones are dropped; an entry that
 * was not used for two minutes counts as gone. `sizeOf` is in bytes, or in another unit of `maxSize`; an entry larger than half of
 * `maxSize` is not kept.
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
