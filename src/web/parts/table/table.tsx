import { type ReactNode, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import styles from './table.module.css'

export interface Column<T> {
  readonly name: string
  /** Numbers are set at the right. */
  readonly number?: boolean
  readonly cell: (row: T) => ReactNode
}

interface TableProps<T> {
  /** What the rows are, for whoever listens. */
  readonly caption: string
  readonly columns: readonly Column<T>[]
  readonly rows: readonly T[]
  readonly keyOf: (row: T) => string
  /** Whether a row is where the keys are, or picked for something. */
  readonly isAt?: (row: T) => boolean
  /** Whether a link leads to a row. */
  readonly isMarked?: (row: T) => boolean
}

/** A table of some hundred rows at most; it scrolls sideways where it is too wide. */
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

/** Goes through the rows of a list by j and k, and opens the one that it is at by Enter. Answers where it is; -1 before the first key. */
export function useRowKeys<T>(what: string, rows: readonly T[], open: (row: T) => void): number {
  const [at, setAt] = useState(-1)
  const go = (to: number): void => {
    setAt(Math.max(0, Math.min(rows.length - 1, to)))
    // Enter would go on belonging to the button or link that was pressed last.
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
