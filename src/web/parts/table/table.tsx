import { type ReactNode, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import styles from './table.module.css'

export interface Column<T> {
  readonly name: string
  /** Numbers are aligned at the end. */
  readonly number?: boolean
  readonly cell: (row: T) => ReactNode
}

export interface TableProps<T> {
  /** The name of the table for screen readers. */
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Whether the row has the keyboard cursor, or is selected. */
  readonly isAt?: (row: T) => boolean
  /** Whether a link points to a row. */
  readonly isMarked?: (row: T) => boolean
}

/** A table of up to some hundred rows; it scrolls sideways if it is too wide. */
export function Table<T>({ caption, columns, rows, keyOf, isAt, isMarked }: TableProps<T>) {
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label={caption}>
      <table className={styles.table}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, number }) => (
              <th key={name} scope="col" className={number ? styles.number : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr
              key={keyOf(row)}
              data-at={isAt?.(row) || undefined}
              aria-current={isMarked?.(row) ? 'location' : undefined}
            >
              {columns.map(({ name, number, cell }) => (
                <td
                  key={name}
                  className={number ? styles.number : undefined}
                  dir={number ? undefined : 'auto'}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Moves through the rows of a list with j and k, and opens one with Enter. Returns the index; -1 before the first key. */
export function useRowKeys<T>(what: string, rows: readonly T[], open: (row: T) => void): number {
  const [at, setAt] = useState(-1)
  const go = (to: number): void => {
    setAt(Math.max(0, Math.min(rows.length - 1, to)))
    // Otherwise Enter would press the last button or link again.
    if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  }
  const here = rows[at]
  useCommands([
    { id: 'next', title: `Next ${what}`, keys: 'j', run: () => go(at + 1) },
    { id: 'previous', title: `Previous ${what}`, keys: 'k', run: () => go(at - 1) },
    {
      id: 'open',
      title: `Open the ${what}`,
      keys: 'enter',
      run: () => {
        if (here !== undefined) open(here)
      },
    },
  ])
  return at
}
