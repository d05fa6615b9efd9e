import { useMemo, useState } from 'react'
import { useDiffLayout } from '../diff-layout.ts'
import type { Hunk, LineDiff } from '../model/line-diff.ts'
import { lineItems } from './line-items.ts'
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
/** So many blocks of rows are looked after at once. */
const MOST_ITEMS = 300

/** Two texts, line beside line or below each other, as is chosen; what is the same is folded, what is far away is not drawn. */
export function LineTable({ label, diff: { rows, hunks }, prose = false }: LineTableProps) {
  const layout = useDiffLayout()
  const [opened, setOpened] = useState<ReadonlyMap<number, number>>(new Map())
  const [most, setMost] = useState(MOST_ITEMS)
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
              <button type="button" onClick={() => setMost(most + MOST_ITEMS)}>
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
