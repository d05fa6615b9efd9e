import { invalid } from '../errors.ts'

/** Which part of a list is wanted (ruling 1.8, contract/workflows 6.3). Times are RFC 3339. */
export interface Windowing {
  readonly limit?: number | undefined
  readonly order?: 'ascending' | 'descending' | undefined
  /** The id of the last row seen; the window starts behind it. */
  readonly next?: string | undefined
  readonly newest?: string | undefined
  readonly oldest?: string | undefined
}

/** One row of a list: its id and what it is ordered by. */
export interface Ordered<T> {
  readonly id: string
  readonly createdAt: string
  readonly value: T
}

/** The order that `cutWindow` wants its rows in: by time, and where that is the same by id. */
export function byCreation(a: Ordered<unknown>, b: Ordered<unknown>): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : 1
}

export interface Window<T> {
  readonly rows: readonly T[]
  /** The id to send as `next` for the rows that remain; undefined when none remain. */
  readonly next: string | undefined
}

/**
 * Cuts a window out of `rows`, which are in ascending order and hold every row of the list, so that a cursor is found even
 * if its row no longer passes `keep`. Ascending by default; descending when windowing is sent without an order.
 */
export async function cutWindow<T>(
  rows: readonly Ordered<T>[],
  windowing: Windowing | undefined,
  keep: (row: T) => boolean | Promise<boolean>,
): Promise<Window<T>> {
  const descending = windowing !== undefined && windowing.order !== 'ascending'
  const ordered = descending ? [...rows].reverse() : rows
  const start = windowing?.next === undefined ? 0 : indexAfter(ordered, windowing.next)
  const limit = windowing?.limit ?? Number.POSITIVE_INFINITY
  const found: Ordered<T>[] = []
  for (let index = start; index < ordered.length; index++) {
    const row = ordered[index]
    if (!row || !isWithin(row.createdAt, windowing, descending)) continue
    const kept = keep(row.value)
    if (!(typeof kept === 'boolean' ? kept : await kept)) continue
    if (found.length >= limit) return { rows: found.map((it) => it.value), next: found.at(-1)?.id }
    found.push(row)
  }
  return { rows: found.map((it) => it.value), next: undefined }
}

function indexAfter<T>(ordered: readonly Ordered<T>[], next: string): number {
  const index = ordered.findIndex((row) => row.id === next)
  if (index >= 0) return index + 1
  throw invalid(
    ['body', 'windowing', 'next'],
    `${next} is not the id of a row of this list. Send the \`next\` of the previous answer, with the same filters.`,
    'invalid_cursor',
  )
}

/** The bound a page begins at is exclusive until a cursor takes its place, so that pages by time do not overlap. */
function isWithin(createdAt: string, windowing: Windowing | undefined, descending: boolean): boolean {
  if (windowing?.newest === undefined && windowing?.oldest === undefined) return true
  const at = Date.parse(createdAt)
  const newest = windowing.newest === undefined ? Number.POSITIVE_INFINITY : Date.parse(windowing.newest)
  const oldest = windowing.oldest === undefined ? Number.NEGATIVE_INFINITY : Date.parse(windowing.oldest)
  const paging = windowing.next !== undefined
  if (descending) return (paging ? at <= newest : at < newest) && at >= oldest
  return at <= newest && (paging ? at >= oldest : at > oldest)
}
