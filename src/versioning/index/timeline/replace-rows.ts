import { countWhile } from './count-while.ts'
import type { TimelineRow } from './timeline-row.ts'
import { isOlder } from './timeline-row.ts'

/**
 * `rows` without those that leave and with those that come. `rows` are in order, and so is what is answered; all that leave are
 * among them. One pass in which rows are compared by identity only: the places of those that come are looked up.
 */
export function replaceRows(
  rows: readonly TimelineRow[],
  leaving: readonly TimelineRow[],
  coming: readonly TimelineRow[],
): readonly TimelineRow[] {
  if (leaving.length === 0 && coming.length === 0) return rows
  const gone = [...leaving].sort(inOrder)
  const result: TimelineRow[] = []
  let [at, left] = [0, 0]
  const copyUpTo = (end: number): void => {
    for (; at < end; at++) {
      const row = rows[at]! // within the bounds
      if (row === gone[left]) left++
      else result.push(row)
    }
  }
  for (const row of [...coming].sort(inOrder)) {
    copyUpTo(countWhile(rows, (it) => isOlder(it, row), at))
    result.push(row)
  }
  copyUpTo(rows.length)
  return result
}

function inOrder(a: TimelineRow, b: TimelineRow): number {
  return isOlder(a, b) ? -1 : 1
}
