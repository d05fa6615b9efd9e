import type { TraceRetention } from '../trace-settings.ts'
import type { TraceFile } from './trace-file.ts'

/**
 * Removes some of the oldest traces while they are too old or all of them too large, and gives some of the room back to the disk: a
 * few milliseconds of work. Answers whether more remains to be done. `now` is in milliseconds.
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
  const free = pragma(file, 'freelist_count')
  file.rows(`PRAGMA incremental_vacuum(${PAGES})`)
  const left = pragma(file, 'freelist_count')
  return removed >= FEW || (left > 0 && left < free)
}

const DAY = 24 * 60 * 60 * 1000
/** Traces are removed so few at a time, lest more go than must; and about so many in one step. */
const FEW = 20
const STEP = 200
/** Pages given back in one step. */
const PAGES = 500

/** Removes a few traces that began before a time, the oldest first, and the texts that none of the others has; how many they were. */
function removeOldest(file: TraceFile, before: number): number {
  const rows = file.rows<{ readonly id: number }>(
    'SELECT id FROM traces WHERE start_time < ? ORDER BY start_time, trace_id LIMIT ?',
    before,
    FEW,
  )
  for (const { id } of rows) {
    file.run('DELETE FROM spans WHERE trace = ?', id)
    file.run('DELETE FROM traces WHERE id = ?', id)
  }
  file.run(FORGET, Number.MAX_SAFE_INTEGER)
  return rows.length
}

/** A trace begins no later than any of its spans: no span that is left can have a text whose newest span began before all traces. */
const FORGET = 'DELETE FROM reference_texts WHERE newest < coalesce((SELECT min(start_time) FROM traces), ?)'

function usedBytes(file: TraceFile): number {
  return (pragma(file, 'page_count') - pragma(file, 'freelist_count')) * pragma(file, 'page_size')
}

function pragma(file: TraceFile, name: 'page_count' | 'freelist_count' | 'page_size'): number {
  return file.rows<Record<string, number>>(`PRAGMA ${name}`)[0]?.[name] ?? 0
}
