import type { Hunk, LineRow } from '../model/line-diff.ts'

/** What is drawn one below the other: some rows, a fold in place of rows that are the same, or which lines follow those left out. */
export type LineItem =
  | {
      readonly kind: 'rows'
      readonly from: number
      readonly rows: readonly LineRow[]
      readonly changes: number
    }
  | { readonly kind: 'fold'; readonly from: number; readonly count: number }
  | { readonly kind: 'hunk'; readonly from: number; readonly hunk: Hunk }

/** Lines that are the same and stay in sight around a change. */
const CONTEXT = 3
/** Rows that are drawn, or left out while they are far from what is seen, together. */
const BLOCK = 60

/** Folds what is the same far from changes; `opened` says how many rows from its beginning a fold shows, by the place of its first row. */
export function lineItems(
  rows: readonly LineRow[],
  opened: ReadonlyMap<number, number>,
  hunks: ReadonlyMap<number, Hunk> = NO_HUNKS,
): readonly LineItem[] {
  const items: LineItem[] = []
  let from = 0
  while (from < rows.length) {
    const hunk = hunks.get(from)
    if (hunk) items.push({ kind: 'hunk', from, hunk })
    const isSame = rows[from]?.isSame === true
    let to = from + 1
    while (to < rows.length && (rows[to]?.isSame === true) === isSame && !hunks.has(to)) to++
    if (isSame) addSame(items, rows, from, to, opened)
    else addRows(items, rows, from, to)
    from = to
  }
  return items
}

const NO_HUNKS: ReadonlyMap<number, Hunk> = new Map()

function addSame(
  items: LineItem[],
  rows: readonly LineRow[],
  from: number,
  to: number,
  opened: ReadonlyMap<number, number>,
): void {
  const foldFrom = from === 0 ? 0 : from + CONTEXT
  const foldTo = to === rows.length ? to : to - CONTEXT
  // A fold of two lines would save nothing.
  if (foldTo - foldFrom < 3) return addRows(items, rows, from, to)
  const shown = Math.min(foldTo, foldFrom + (opened.get(foldFrom) ?? 0))
  addRows(items, rows, from, shown)
  if (shown < foldTo) items.push({ kind: 'fold', from: foldFrom, count: foldTo - shown })
  addRows(items, rows, foldTo, to)
}

/** Adds rows to the last block while it has room, so that a comparison of many small changes is a few blocks. */
function addRows(items: LineItem[], rows: readonly LineRow[], from: number, to: number): void {
  while (from < to) {
    const last = items.at(-1)
    const room = last?.kind === 'rows' ? BLOCK - last.rows.length : 0
    const end = Math.min(to, from + (room > 0 ? room : BLOCK))
    const more = rows.slice(from, end)
    const changes = rows[from]?.isSame === false && (from === 0 || rows[from - 1]?.isSame === true) ? 1 : 0
    if (last?.kind === 'rows' && room > 0) {
      items[items.length - 1] = { ...last, rows: [...last.rows, ...more], changes: last.changes + changes }
    } else {
      items.push({ kind: 'rows', from, rows: more, changes })
    }
    from = end
  }
}
