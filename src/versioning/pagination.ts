import type { Refusal } from '../errors.ts'
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
  const window = await cutWindowOf(rows, ORDERED, windowing, ({ value }) => keep(value))
  return { rows: window.rows.map(({ value }) => value), next: window.next }
}

/** What a list is ordered by, for rows that know it themselves. */
export interface Order<T> {
  readonly id: (row: T) => string
  readonly createdAt: (row: T) => string
}

const ORDERED: Order<Ordered<unknown>> = { id: (row) => row.id, createdAt: (row) => row.createdAt }

/** `cutWindow` for rows that nothing is wrapped around: of very many most are only passed by. */
export async function cutWindowOf<T>(
  rows: readonly T[],
  { id, createdAt }: Order<T>,
  windowing: Windowing | undefined,
  keep: (row: T) => boolean | Promise<boolean>,
): Promise<Window<T>> {
  const step = isDescending(windowing) ? -1 : 1
  const bounds = boundsOf(windowing)
  const found: T[] = []
  const next = windowing?.next
  let index = step > 0 ? 0 : rows.length - 1
  if (next !== undefined) {
    index = rows.findIndex((row) => id(row) === next)
    if (index < 0) throw unknownCursor(next)
    index += step
  }
  for (; index >= 0 && index < rows.length; index += step) {
    const row = rows[index]! // within the bounds
    if (bounds && isOutside(bounds, Date.parse(createdAt(row)))) continue
    const kept = keep(row)
    if (!(typeof kept === 'boolean' ? kept : await kept)) continue
    const last = found.at(-1)
    if (last !== undefined && found.length >= (windowing?.limit ?? Number.POSITIVE_INFINITY)) {
      return { rows: found, next: id(last) }
    }
    found.push(row)
  }
  return { rows: found, next: undefined }
}

/** Whether a list goes from the newest to the oldest: where a window says so, or says nothing about it. */
export function isDescending(windowing: Windowing | undefined): boolean {
  return windowing !== undefined && windowing.order !== 'ascending'
}

/** Which times (milliseconds since 1970) a window leaves out. */
export interface Bounds {
  readonly isTooOld: (at: number) => boolean
  readonly isTooNew: (at: number) => boolean
}

/**
 * The bounds of a window; undefined if it has none. The bound a page begins at is exclusive until a cursor takes its place, so that
 * pages by time do not overlap.
 */
export function boundsOf(windowing: Windowing | undefined): Bounds | undefined {
  if (windowing?.newest === undefined && windowing?.oldest === undefined) return undefined
  const newest = windowing.newest === undefined ? Number.POSITIVE_INFINITY : Date.parse(windowing.newest)
  const oldest = windowing.oldest === undefined ? Number.NEGATIVE_INFINITY : Date.parse(windowing.oldest)
  const isExclusive = windowing.next === undefined
  return isDescending(windowing)
    ? { isTooOld: (at) => at < oldest, isTooNew: (at) => at > newest || (isExclusive && at === newest) }
    : { isTooOld: (at) => at < oldest || (isExclusive && at === oldest), isTooNew: (at) => at > newest }
}

function isOutside({ isTooOld, isTooNew }: Bounds, at: number): boolean {
  return isTooOld(at) || isTooNew(at)
}

/** The refusal of a cursor that names no row. */
export function unknownCursor(next: string): Refusal {
  return invalid(
    ['body', 'windowing', 'next'],
    `${next} is not the id of a row of this list. Send the \`next\` of the previous answer, with the same filters.`,
    'invalid_cursor',
  )
}
