import { countWhile } from './count-while.ts'
import type { TimelinePlace, TimelineRow } from './timeline-row.ts'
import { isOlder } from './timeline-row.ts'
import type { Windowing } from '../../pagination.ts'
import { boundsOf, isDescending } from '../../pagination.ts'

/** Rows that lie side by side: from number `from` up to `to`, which is not one of them. */
export interface RowSpan {
  readonly from: number
  readonly to: number
}

/** What a query asks of the place of rows. */
export interface PlaceQuery {
  readonly windowing: Windowing | undefined
  /** The place of the row that the window's cursor names: what is asked for lies behind it. */
  readonly cursor: TimelinePlace | undefined
  /** The times of commit that are wanted (RFC 3339); undefined if any is. */
  readonly dates: readonly string[] | undefined
}

/** Where the rows lie that a query asks for. `rows` are in order, the oldest first, and so is what is answered. */
export function rowSpans(rows: readonly TimelineRow[], query: PlaceQuery): RowSpan[] {
  const { from, to } = windowSpan(rows, query)
  if (!query.dates) return [{ from, to }]
  const times = new Set(query.dates.map((date) => Date.parse(date)))
  return [...times]
    .sort((a, b) => a - b)
    .map((time) => ({
      from: countWhile(rows, ({ seconds }) => seconds * 1000 < time, from, to),
      to: countWhile(rows, ({ seconds }) => seconds * 1000 <= time, from, to),
    }))
}

function windowSpan(rows: readonly TimelineRow[], { windowing, cursor }: PlaceQuery): RowSpan {
  const bounds = boundsOf(windowing)
  const newerThan = isDescending(windowing) ? undefined : cursor
  const olderThan = isDescending(windowing) ? cursor : undefined
  const from = countWhile(
    rows,
    (row) => bounds?.isTooOld(row.seconds * 1000) || (newerThan && !isOlder(newerThan, row)) || false,
  )
  const to = countWhile(
    rows,
    (row) => !bounds?.isTooNew(row.seconds * 1000) && (!olderThan || isOlder(row, olderThan)),
    from,
  )
  return { from, to }
}
