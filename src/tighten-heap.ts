import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/**
 * Has V8 move what is alive closer together where more than a fifth of what it holds for old objects is free, `leastMs` milliseconds (two
 * minutes) after the last time at the earliest. By itself it empties only pages that are nearly empty, and what caches let go of after
 * some minutes leaves holes everywhere: under steady load it comes to hold all that it allows itself, in half an hour. The collections that
 * do it are V8's own next ones, which mostly work beside the program. Not all: they make the space of new objects small each time, and a
 * retrieve cost a fifth more, a commit up to half.
 */
export function tightenHeap(leastMs = LEAST_MS): void {
  let coming = 0
  let doneAt = Number.NEGATIVE_INFINITY
  const observer = new PerformanceObserver((list) => {
    if (!list.getEntries().some(isOfOldObjects)) return
    const now = performance.now()
    if (coming > 0) {
      if (--coming > 0) return
      setFlagsFromString('--no-optimize-for-size')
      doneAt = now
    } else if (now >= doneAt + leastMs && isLoose()) {
      setFlagsFromString('--optimize-for-size')
      coming = COLLECTIONS
    }
  })
  observer.observe({ type: 'gc' })
}

/** The first may have begun before it was asked for. */
const COLLECTIONS = 2
const LEAST_MS = 2 * 60_000

function isOfOldObjects(entry: PerformanceEntry): boolean {
  // what node adds to the entry of a collection
  const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } }
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}

/** Where little is held, little can be given back. */
function isLoose(): boolean {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
  return old !== undefined && old.space_used_size + SLACK < old.physical_space_size * 0.8
}

const SLACK = 4 * 1024 * 1024
