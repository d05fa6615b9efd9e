import { memo } from 'react'
import { cellKind, cellText } from './cell-text.ts'
import type { Edges } from './column-layout.ts'
import styles from './grid.module.css'

/** A row as the grid shows it. */
export interface GridRow {
  /** What the frozen column shows. */
  readonly key: string
  readonly values: Readonly<Record<string, unknown>>
  /** What else it has, beside its number. */
  readonly note?: string | undefined
}

export interface GridCellsProps {
  readonly id: string
  readonly index: number
  /** Undefined while it is on its way. */
  readonly row: GridRow | undefined
  readonly columns: readonly string[]
  /** The columns from `from` to before `to` are drawn. */
  readonly from: number
  readonly to: number
  readonly edges: Edges
  readonly frozen: { readonly number: number; readonly key: number }
  /** The column that has the focus, if it is in this row; 0 is the frozen one. */
  readonly active: number | undefined
}

/** The cells of one row: its number, its key, and those of the columns that are seen. */
export const GridCells = memo(function GridCells({
  id,
  index,
  row,
  columns,
  from,
  to,
  edges,
  frozen,
  active,
}: GridCellsProps) {
  return (
    <>
      <div role="rowheader" aria-colindex={1} className={styles.number} style={{ width: frozen.number }}>
        {(index + 1).toLocaleString()}
        {row?.note !== undefined && (
          <span className={styles.note} title={row.note}>
            <span className="visually-hidden">{row.note}</span>
          </span>
        )}
      </div>
      <div
        role="gridcell"
        id={`${id}-${index}-0`}
        aria-colindex={2}
        aria-selected={active === 0}
        className={styles.key}
        style={{ width: frozen.key, insetInlineStart: frozen.number }}
      >
        {row ? row.key : <span data-waiting className={styles.waiting} />}
      </div>
      <div className={styles.slide}>
        {columns.slice(from, to).map((name, step) => {
          const column = from + step
          const left = edges[column] ?? 0
          const value = row && Object.hasOwn(row.values, name) ? row.values[name] : undefined
          return (
            <div
              key={column}
              role="gridcell"
              id={`${id}-${index}-${column + 1}`}
              aria-colindex={column + 3}
              aria-selected={active === column + 1}
              className={styles.cell}
              dir="auto"
              data-kind={cellKind(value)}
              style={{ insetInlineStart: left, width: (edges[column + 1] ?? left) - left }}
            >
              {row ? cellText(value) : <span data-waiting className={styles.waiting} />}
            </div>
          )
        })}
      </div>
    </>
  )
})
