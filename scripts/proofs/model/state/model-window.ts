/** Which part of a list is wanted (interface 2.18). */
export interface ModelWindowing {
  readonly limit?: number
  readonly order?: 'ascending' | 'descending'
  readonly next?: string
  readonly newest?: string
  readonly oldest?: string
}

/** A thing in its place among all of its level; `record` is undefined where the query does not want it. */
export interface ModelRow {
  readonly id: string
  readonly at: string
  readonly depth: number
  readonly record: object | undefined
}

/**
 * The wanted rows of a window, in order of time, then depth, then id (interface 4.19), and the id to go on from when more
 * remain. Each of the rows is a cursor, wanted or not.
 */
export function cutRows(
  rows: readonly ModelRow[],
  windowing: ModelWindowing | undefined,
): { readonly rows: readonly object[]; readonly next: string | undefined } | 'unknown cursor' {
  const descending = windowing !== undefined && windowing.order !== 'ascending'
  const ordered = [...rows].sort((a, b) => (descending ? -compareRows(a, b) : compareRows(a, b)))
  const cursor = windowing?.next
  const start = cursor === undefined ? 0 : ordered.findIndex((row) => row.id === cursor) + 1
  if (cursor !== undefined && start === 0) return 'unknown cursor'
  const wanted = ordered
    .slice(start)
    .filter((row) => row.record !== undefined && isInTime(row.at, windowing ?? {}, descending))
  const page = wanted.slice(0, windowing?.limit)
  return {
    rows: page.flatMap(({ record }) => record ?? []),
    next: page.length < wanted.length ? page.at(-1)?.id : undefined,
  }
}

function compareRows(a: ModelRow, b: ModelRow): number {
  return Date.parse(a.at) - Date.parse(b.at) || a.depth - b.depth || (a.id < b.id ? -1 : 1)
}

/** The bound at which a page begins is exclusive, and inclusive once a cursor marks the beginning. */
function isInTime(at: string, { next, newest, oldest }: ModelWindowing, descending: boolean): boolean {
  const time = Date.parse(at)
  const upper = newest === undefined ? Number.POSITIVE_INFINITY : Date.parse(newest)
  const lower = oldest === undefined ? Number.NEGATIVE_INFINITY : Date.parse(oldest)
  const paging = next !== undefined
  return descending
    ? (paging ? time <= upper : time < upper) && time >= lower
    : time <= upper && (paging ? time >= lower : time > lower)
}
