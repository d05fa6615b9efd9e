import { useMemo, useState } from 'react'
import { useDiffLayout } from '../diff-layout.ts'
import type { Hunk, LineDiff, LineRow } from '../model/line-diff.ts'
import { LineRows } from './line-rows.tsx'
import styles from './line-table.module.css'

export interface LineTableProps {
  /** What the texts are, for whoever listens. */
  readonly label: string
  readonly diff: LineDiff
  /** Set as prompts are, not as code is. */
  readonly prose?: boolean
}

/** A fold shows so many more rows at once. */
const STEP = 500
const MAX_BLOCKS_OBSERVED = 300

/** Two texts, line beside line or below each other, as is chosen; what is the same is folded, what is far away is not drawn. */
export function LineTable({ label, diff: { rows, hunks }, prose = false }: LineTableProps) {
  const layout = useDiffLayout()
  const [opened, setOpened] = useState<ReadonlyMap<number, number>>(new Map())
  const [most, setMost] = useState(MAX_BLOCKS_OBSERVED)
  const items = useMemo(() => lineItems(rows, opened, hunks), [rows, opened, hunks])
  const isSplit = layout === 'split'
  const open = (from: number) =>
    setOpened((before) => new Map(before).set(from, (before.get(from) ?? 0) + STEP))
  return (
    <table className={`${styles.table} ${prose ? styles.prose : ''}`} aria-label={label} data-layout={layout}>
      <colgroup>
        <col className={styles.numbers} />
        <col className={isSplit ? undefined : styles.numbers} />
        {isSplit && <col className={styles.numbers} />}
        <col />
      </colgroup>
      <thead className="visually-hidden">
        <tr>
          {(isSplit
            ? ['Line before', 'Before', 'Line after', 'After']
            : ['Line before', 'Line after', 'Text']
          ).map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      {items.slice(0, most).map((item, at) =>
        item.kind === 'hunk' ? (
          <tbody key={`hunk ${item.from}`}>
            <tr>
              <td colSpan={isSplit ? 4 : 3} className={styles.hunk}>
                <HunkMark hunk={item.hunk} />
              </td>
            </tr>
          </tbody>
        ) : item.kind === 'fold' ? (
          <tbody key={`fold ${item.from}`}>
            <tr>
              <td colSpan={isSplit ? 4 : 3} className={styles.fold}>
                <button
                  type="button"
                  aria-label={`Show ${lines(item.count)} that did not change`}
                  onClick={() => open(item.from)}
                >
                  {lines(item.count)}
                </button>
              </td>
            </tr>
          </tbody>
        ) : (
          <LineRows
            key={item.from}
            rows={item.rows}
            changes={item.changes}
            layout={layout}
            isFirst={at < 2}
            goesOn={item.from > 0 && rows[item.from - 1]?.isSame === false}
          />
        ),
      )}
      {items.length > most && (
        <tbody>
          <tr>
            <td colSpan={isSplit ? 4 : 3} className={styles.fold}>
              <button type="button" onClick={() => setMost(most + MAX_BLOCKS_OBSERVED)}>
                show more
              </button>
            </td>
          </tr>
        </tbody>
      )}
    </table>
  )
}

/** As git writes it; whoever listens is told in words. */
function HunkMark({ hunk: { base, head } }: { readonly hunk: Hunk }) {
  return (
    <>
      <span aria-hidden>
        @@ −{base.start},{base.lines} +{head.start},{head.lines} @@
      </span>
      <span className="visually-hidden">
        {lines(base.lines)} before from {base.start} on, {lines(head.lines)} after from {head.start} on
      </span>
    </>
  )
}

function lines(count: number): string {
  return count === 1 ? '1 line' : `${count.toLocaleString()} lines`
}

/** What is drawn one below the other: some rows, a fold in place of rows that are the same, or which lines follow those left out. */
type LineItem =
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
function lineItems(
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
