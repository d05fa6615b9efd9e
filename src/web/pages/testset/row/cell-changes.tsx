import { useState } from 'react'
import { Fold } from '../../../parts/fold/fold.tsx'
import { KEY_COLUMN } from '../rows.ts'
import styles from '../testset.module.css'

/** What became of a cell. An undefined side had none. */
export interface CellChange {
  readonly column: string
  readonly before: string | undefined
  readonly after: string | undefined
}

type Values = Readonly<Record<string, unknown>>

/** The cells in which two versions of a row differ. */
export function cellChanges(before: Values | undefined, after: Values | undefined): readonly CellChange[] {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  names.delete(KEY_COLUMN)
  return [...names].flatMap((column) => {
    const change = { column, before: textOf(before, column), after: textOf(after, column) }
    return change.before === change.after ? [] : change
  })
}

/** A cell as text: a text is told from JSON that reads the same by its quotes. */
function textOf(values: Values | undefined, column: string): string | undefined {
  if (!values || !Object.hasOwn(values, column)) return undefined
  const value = values[column]
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2)
}

/** So many cells are shown at first. */
const FEW = 12

/** Cells with what they held and what they hold. */
export function CellChanges({ changes }: { readonly changes: readonly CellChange[] }) {
  const [most, setMost] = useState(FEW)
  if (changes.length === 0)
    return <p className={styles.muted}>Flags, tags, meta or the order changed; no cell did.</p>
  return (
    <dl className={styles.cells}>
      {changes.slice(0, most).map(({ column, before, after }) => (
        <div key={column}>
          <dt>{column === '' ? 'no name' : column.slice(0, 120)}</dt>
          {before !== undefined && (
            <dd className={styles.before}>
              <span className="visually-hidden">before: </span>
              <Fold text={before} lines={6} />
            </dd>
          )}
          {after !== undefined && (
            <dd className={styles.after}>
              <span className="visually-hidden">after: </span>
              <Fold text={after} lines={6} />
            </dd>
          )}
        </div>
      ))}
      {changes.length > most && (
        <button type="button" className={styles.more} onClick={() => setMost(most + 100)}>
          {(changes.length - most).toLocaleString()} more cells
        </button>
      )}
    </dl>
  )
}
