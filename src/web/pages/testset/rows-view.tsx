import { useState } from 'react'
import { Grid } from '../../parts/grid/grid.tsx'
import type { GridPlace } from '../../parts/grid/move-cell.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { FileDrop } from '../../parts/upload-drop/file-drop.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { CellBar } from './row/cell-bar.tsx'
import { CellDialog } from './row/cell-dialog.tsx'
import { EditHelp } from './row/edit-help.tsx'
import { TestsetRow } from './row/row-panel.tsx'
import { KEY_COLUMN } from './rows.ts'
import styles from './testset.module.css'
import type { Testset, TestsetRevision } from './records.ts'
import { useActive } from './use-active.ts'
import { type Shape, useGridRows, useShape } from './use-rows.ts'

export interface RowsViewProps {
  readonly testset: Testset
  readonly revision: TestsetRevision
  readonly total: number
  /** Told of a file that was dropped. */
  readonly drop: (file: File) => void
}

/** The rows of a revision. */
export function RowsView(props: RowsViewProps) {
  const { shape, error, refetch } = useShape(props.revision.id)
  if (error) return <Failure error={error} retry={refetch} />
  if (!shape) return <Skeleton label="Loading the rows" lines={16} />
  return <ShapedRows {...props} shape={shape} />
}

function ShapedRows({ testset, revision, total, drop, shape }: RowsViewProps & { readonly shape: Shape }) {
  const { columns, sample, pageSize } = shape
  const { rowAt, onSeen, error, refetch } = useGridRows(revision.id, total, pageSize)
  const { active, move, show, search, isLooking, missing } = useActive(revision.id, columns, total)
  const [isEditing, setEditing] = useState(false)
  const row = rowAt(active.row)
  const column = columns[active.column - 1]
  const { row: historyOf, open } = search
  const history = (place: GridPlace): void => {
    const key = rowAt(place.row)?.key
    if (key !== undefined) show({ row: key }, place)
  }
  useCommands([
    {
      id: 'row history',
      title: 'History of the row',
      keys: 'i',
      group: 'Grid',
      run: () => history(active),
    },
    { id: 'edit', title: 'Edit the cell', keys: 'e', group: 'Grid', run: () => setEditing(true) },
  ])
  return (
    <FileDrop className={styles.rows} label="Drop a file to upload it as the next version" drop={drop}>
      <CellBar
        total={total}
        active={active}
        column={column ?? KEY_COLUMN}
        row={row}
        go={(number) => move({ row: number - 1, column: active.column })}
        open={() => show({ open: '1' })}
        history={() => history(active)}
        edit={() => setEditing(true)}
      />
      {error && <Failure error={error} retry={refetch} />}
      {missing && <Failure error={missing} />}
      <div className={styles.side}>
        {isLooking ? (
          <Skeleton label={`Looking for the row ${historyOf ?? ''}`} lines={16} />
        ) : (
          <Grid
            label={`Rows of ${testset.slug}`}
            keyName="dedup id"
            columns={columns}
            total={total}
            rowAt={rowAt}
            sample={sample}
            onSeen={onSeen}
            active={active}
            onActive={move}
            onOpen={(place) => (place.column === 0 ? history(place) : show({ open: '1' }, place))}
            widthsKey={`branchpoint-widths-${testset.id}`}
            marked={historyOf}
          />
        )}
        {historyOf !== undefined && (
          <TestsetRow
            key={historyOf}
            slug={testset.slug}
            revision={revision}
            dedupId={historyOf}
            row={row?.key === historyOf ? row : undefined}
            close={() => show({ row: undefined })}
          />
        )}
      </div>
      {open !== undefined && column !== undefined && (
        <CellDialog
          number={active.row + 1}
          column={column}
          row={row}
          close={() => show({ open: undefined })}
        />
      )}
      <EditHelp
        open={isEditing}
        close={() => setEditing(false)}
        testset={testset}
        revision={revision}
        row={row}
        column={column}
      />
    </FileDrop>
  )
}
