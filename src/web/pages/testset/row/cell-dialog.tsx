import { Copyable } from '../../../parts/copy/copyable.tsx'
import { Modal } from '../../../parts/dialog/modal.tsx'
import { Fold } from '../../../parts/fold/fold.tsx'
import { JsonView } from '../../../parts/json/json-view.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import type { Row } from '../rows.ts'
import styles from '../testset.module.css'

export interface CellDialogProps {
  /** The row's number, from 1. */
  readonly number: number
  readonly column: string
  readonly row: Row | undefined
  readonly close: () => void
}

/** The whole value of a cell. */
export function CellDialog({ number, column, row, close }: CellDialogProps) {
  const has = row !== undefined && Object.hasOwn(row.values, column)
  const value = has ? row.values[column] : undefined
  const isLong = typeof value === 'string' ? value.length > 600 : typeof value === 'object'
  return (
    <Modal
      open
      close={close}
      sheet={isLong}
      title={`${column.slice(0, 100)} of row ${number.toLocaleString()}`}
    >
      {!row ? (
        <Skeleton label="Loading the row" />
      ) : !has ? (
        <p>The row has no value in this column.</p>
      ) : typeof value === 'string' ? (
        <div className={styles.whole}>
          <p className={styles.muted}>
            {counted(value.length, 'character')}, {counted(value.split('\n').length, 'line')}
          </p>
          <div className={styles.text}>
            <Fold text={value} lines={60} />
          </div>
        </div>
      ) : (
        <JsonView value={value} depth={3} />
      )}
      {row && (
        <div className={styles.key}>
          <span className={styles.muted}>Dedup id of the row</span>
          <Copyable text={row.key} label="Dedup id of the row" />
        </div>
      )}
    </Modal>
  )
}

function counted(count: number, one: string): string {
  return `${count.toLocaleString()} ${one}${count === 1 ? '' : 's'}`
}
