import type { TraceRetention } from '../trace-settings.ts'
import { sourcesOf } from './span-source.ts'
import { bringSomeOver, removeTrace } from './stored-spans.ts'
import type { TraceFile } from './trace-file.ts'

/**
 * Removes some of the oldest traces while they are too old or all of them too large, brings some of an older version over, and gives
 * some of the room back to the disk: a few milliseconds of work. Answers whether more remains to be done. `now` is in milliseconds.
 */
export function retainTraces(
  file: TraceFile,
  { maxAgeDays, maxBytes }: TraceRetention,
  now: number,
): boolean {
  const oldest = (now - maxAgeDays * DAY) * 1000
  const removed = file.transaction(() => {
    let count = removeOldest(file, oldest)
    while (count < STEP && usedBytes(file) > maxBytes) {
      const some = removeOldest(file, Number.MAX_SAFE_INTEGER)
      if (some === 0) break
      count += some
    }
    return count
  })
  bringSomeOver(file)
  const free = pragma(file, 'freelist_count')
  file.rows(`PRAGMA incremental_vacuum(${PAGES})`)
  const left = pragma(file, 'freelist_count')
  return file.hasOlder || removed >= FEW || (left > 0 && left < free)
}

const DAY = 24 * 60 * 60 * 1000
/** Traces are removed so few at a time, lest more go than must; and about so many in one step. */
const FEW = 20
const STEP = 200
/** Pages given back in one step. */
const PAGES = 500

/** Removes a few traces that began before a time, the oldest first; how many they were. Those of an older version are the oldest. */
function removeOldest(file: TraceFile, before: number): number {
  for (const { traces, began } of sourcesOf(file).toReversed()) {
    const oldest = `SELECT trace_id FROM ${traces} WHERE began < ? ORDER BY began, trace_id LIMIT ?`
    const rows = file.rows<{ readonly trace_id: string }>(oldest, began(before), FEW)
    for (const { trace_id: id } of rows) removeTrace(file, id)
    if (rows.length > 0) return rows.length
  }
  return 0
}

function usedBytes(file: TraceFile): number {
  return (pragma(file, 'page_count') - pragma(file, 'freelist_count')) * pragma(file, 'page_size')
}

function pragma(file: TraceFile, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return file.rows<Record<string, number>>(`PRAGMA ${name}`)[0]?.[name] ?? 0
}
