import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { collectSooner } from '../src/collect-sooner.ts'
import { tightenHeap } from '../src/tighten-heap.ts'

/**
 * A program whose heap gets full of holes, as a server's does: what it keeps lies between what it lets go of after a while. It has the heap
 * tightened once ten collections left no more than 0.7 of what is held for old objects in use, and ends once one leaves 0.85: V8 by itself
 * leaves 0.5 to 0.8.
 */
collectSooner()
const kept: ({ readonly number: number } | undefined)[] = []
for (let number = 0; number < 800_000; number++) kept.push({ number })
for (let at = 0; at < kept.length; at += 2) kept[at] = undefined
let loose = 0
let isTight = false
new PerformanceObserver((list) => {
  if (!list.getEntries().some(isOfOldObjects)) return
  const used = usedPart()
  if (loose === 10) isTight ||= used >= 0.85
  else if (used <= 0.7 && ++loose === 10) tightenHeap(0)
}).observe({ type: 'gc' })
const lately: object[] = []
for (let round = 0; !isTight; round++) {
  lately[round % 60] = Array.from({ length: 5000 }, (_, number) => ({ number }))
  await nextTurn()
}

function isOfOldObjects(entry: PerformanceEntry): boolean {
  // what node adds to the entry of a collection
  const { detail } = entry as PerformanceEntry & { readonly detail: { readonly kind: number } }
  return detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR
}

function usedPart(): number {
  const old = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')
  return old === undefined ? 0 : old.space_used_size / old.physical_space_size
}
