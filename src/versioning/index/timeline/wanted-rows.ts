import { setImmediate as nextTurn } from 'node:timers/promises'
import type { RowSpan } from './row-spans.ts'
import type { TimelineRow } from './timeline-row.ts'

/** So many rows are looked at before other work gets its turn. */
const BREATH = 20_000

/** So many are looked at first, then twice as many each time: a page is often full soon. */
const FIRST = 64

/**
 * The rows of these spans that are wanted, one after the other, the last first if `isDown`. Many are looked at in one
 * loop that waits for nothing.
 */
export async function* wantedRows(
  rows: readonly TimelineRow[],
  spans: readonly RowSpan[],
  isDown: boolean,
  isWanted: (row: TimelineRow) => boolean,
): AsyncGenerator<TimelineRow, void, undefined> {
  let [most, looked] = [FIRST, 0]
  for (const { from, to } of isDown ? spans.toReversed() : spans) {
    let [low, high] = [from, to]
    while (low < high) {
      const wanted = isDown
        ? rows
            .slice(Math.max(low, high - most), high)
            .filter(isWanted)
            .reverse()
        : rows.slice(low, Math.min(high, low + most)).filter(isWanted)
      if (isDown) high -= most
      else low += most
      yield* wanted
      looked += most
      if (looked >= BREATH) {
        await nextTurn()
        looked = 0
      }
      most = Math.min(2 * most, BREATH)
    }
  }
}
