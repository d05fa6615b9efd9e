import type { Refusal } from '../../errors.ts'
import { invalid } from '../../errors.ts'
import { TimeSlice } from '../../base/scheduling.ts'

/** The requested part of a list (interface 2.18). Times are RFC 3339. */
export interface Windowing {
  readonly limit?: number | undefined
  readonly order?: ListOrder | undefined
  /** The id of the last row seen; the window starts behind it. */
  readonly next?: string | undefined
  /** How many rows to skip from the start of the list; only for payloads that are paged. */
  readonly offset?: number | undefined
  readonly newest?: string | undefined
  readonly oldest?: string | undefined
  /** Whether the answer gives the total over all pages. */
  readonly count_total?: boolean | undefined
}

/** The orders of lists: creation (which the first two also mean), name or last change; `-` reverses. */
export const LIST_ORDERS = [
  ...(['ascending', 'descending', 'created', '-created'] as const),
  ...(['name', '-name', 'updated', '-updated'] as const),
] as const

export type ListOrder = (typeof LIST_ORDERS)[number]

/** A row of a list: its id and sort keys. */
export interface Ordered<T> {
  readonly id: string
  readonly createdAt: string
  readonly name?: string | undefined
  readonly updatedAt?: string | undefined
  readonly value: T
}

/** The row order that `cutWindow` needs: by time, then by id. */
export function byCreation(a: Ordered<unknown>, b: Ordered<unknown>): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : 1
}

export interface Window<T> {
  readonly rows: readonly T[]
  /** The id to send as `next` for the remaining rows; undefined when none remain. */
  readonly next: string | undefined
  /** The total over all pages, if requested. */
  readonly total?: number | undefined
}

/**
 * Cuts a window out of `rows`, which are ascending and complete, so that a cursor is found even if its row no
 * longer passes `keep`. Ascending by default; descending when windowing is sent without an order.
 */
export async function cutWindow<T>(
  rows: readonly Ordered<T>[],
  windowing: Windowing | undefined,
  keep: (row: T) => boolean | Promise<boolean>,
): Promise<Window<T>> {
  const window = await cutWindowOf(rows, ORDERED, windowing, ({ value }) => keep(value))
  return { ...window, rows: window.rows.map(({ value }) => value) }
}

/** Functions that read a row's sort keys. */
export interface Order<T> {
  readonly id: (row: T) => string
  readonly createdAt: (row: T) => string
  readonly name?: (row: T) => string | undefined
  readonly updatedAt?: (row: T) => string | undefined
}

const ORDERED: Order<Ordered<unknown>> = {
  id: (row) => row.id,
  createdAt: (row) => row.createdAt,
  name: (row) => row.name,
  updatedAt: (row) => row.updatedAt,
}

/** Rows that are read one by one, such as an array. */
export interface Rows<T> extends Iterable<T> {
  readonly length: number
  at(index: number): T | undefined
}

/** `cutWindow` for unwrapped rows. Most rows of a large list are only skipped, in slices. */
export async function cutWindowOf<T>(
  unordered: Rows<T>,
  order: Order<T>,
  windowing: Windowing | undefined,
  keep: (row: T) => boolean | Promise<boolean>,
): Promise<Window<T>> {
  const { id, createdAt } = order
  const rows = await inOrder(unordered, order, windowing)
  const total = windowing?.count_total ? await countKept(rows, order, windowing, keep) : undefined
  const step = isDescending(windowing) ? -1 : 1
  const bounds = boundsOf(windowing)
  const found: T[] = []
  const next = windowing?.next
  let index = step > 0 ? 0 : rows.length - 1
  if (next !== undefined) {
    index = [...rows].findIndex((row) => id(row) === next)
    if (index < 0) throw unknownCursor(next)
    index += step
  }
  const slice = new TimeSlice()
  for (; index >= 0 && index < rows.length; index += step) {
    if (index % ROWS_BETWEEN_CLOCK_READS === 0) await slice.pause()
    const row = rows.at(index)! // within the bounds
    if (bounds && isOutside(bounds, Date.parse(createdAt(row)))) continue
    const kept = keep(row)
    if (!(typeof kept === 'boolean' ? kept : await kept)) continue
    const last = found.at(-1)
    if (last !== undefined && found.length >= (windowing?.limit ?? Number.POSITIVE_INFINITY)) {
      return { rows: found, next: id(last), total }
    }
    found.push(row)
  }
  return { rows: found, next: undefined, total }
}

const ROWS_BETWEEN_CLOCK_READS = 100

/** The number of rows on all pages, within the bounds of the first. */
async function countKept<T>(
  rows: Rows<T>,
  { createdAt }: Order<T>,
  windowing: Windowing,
  keep: (row: T) => boolean | Promise<boolean>,
): Promise<number> {
  const bounds = boundsOf({ ...windowing, next: undefined })
  let count = 0
  await new TimeSlice().each(rows, (row) => {
    if (bounds && isOutside(bounds, Date.parse(createdAt(row)))) return undefined
    const kept = keep(row)
    if (typeof kept !== 'boolean') return kept.then((it) => (it ? count++ : undefined))
    if (kept) count++
    return undefined
  })
  return count
}

/** Sorts rows in ascending order by the window's key, then by id. Rows without a name come first. */
async function inOrder<T>(
  rows: Rows<T>,
  order: Order<T>,
  windowing: Windowing | undefined,
): Promise<Rows<T>> {
  if (isByCreation(windowing)) return rows
  const { id, createdAt, name, updatedAt } = order
  const isByName = windowing?.order?.endsWith('name')
  const keyOf = (row: T): string =>
    isByName ? (name?.(row)?.toLowerCase() ?? '') : (updatedAt?.(row) ?? createdAt(row))
  const keyed: Ordered<T>[] = []
  await new TimeSlice().each(
    rows,
    (row) => void keyed.push({ id: id(row), createdAt: keyOf(row), value: row }),
  )
  return keyed.sort(byCreation).map(({ value }) => value)
}

/** Whether a list is ordered by creation, the default. */
export function isByCreation(windowing: Windowing | undefined): boolean {
  return !/name|updated/.test(windowing?.order ?? '')
}

/** Whether a list starts at the end, the newest: if the window says so, or does not say. */
export function isDescending(windowing: Windowing | undefined): boolean {
  return windowing !== undefined && (windowing.order === undefined || /^(-|descending)/.test(windowing.order))
}

/** Which times (milliseconds since 1970) a window excludes. */
export interface Bounds {
  readonly isTooOld: (at: number) => boolean
  readonly isTooNew: (at: number) => boolean
}

/**
 * The bounds of a window on creation times; undefined if it has none. The bound where a first page begins is
 * exclusive, so that pages by time do not overlap; with a cursor it is inclusive.
 */
export function boundsOf(windowing: Windowing | undefined): Bounds | undefined {
  if (windowing?.newest === undefined && windowing?.oldest === undefined) return undefined
  const newest = windowing.newest === undefined ? Number.POSITIVE_INFINITY : Date.parse(windowing.newest)
  const oldest = windowing.oldest === undefined ? Number.NEGATIVE_INFINITY : Date.parse(windowing.oldest)
  const isExclusive = windowing.next === undefined && isByCreation(windowing)
  return isDescending(windowing)
    ? { isTooOld: (at) => at < oldest, isTooNew: (at) => at > newest || (isExclusive && at === newest) }
    : { isTooOld: (at) => at < oldest || (isExclusive && at === oldest), isTooNew: (at) => at > newest }
}

function isOutside({ isTooOld, isTooNew }: Bounds, at: number): boolean {
  return isTooOld(at) || isTooNew(at)
}

/** The refusal for a cursor that names no row. */
export function unknownCursor(next: string): Refusal {
  return invalid(
    ['body', 'windowing', 'next'],
    `${next} is not the id of a row of this list. Send the \`next\` of the previous answer, with the same filters.`,
    'invalid_cursor',
  )
}
