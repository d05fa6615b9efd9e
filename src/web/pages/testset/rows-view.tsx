import { useAddress } from '../../shell/places.ts'
import { useState, useEffect, useRef } from 'react'
import { Grid } from '../../parts/grid/grid.tsx'
import type { GridPlace } from '../../parts/grid/geometry.ts'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { FileDrop } from '../../parts/upload/upload.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { CellBar } from './cell-bar.tsx'
import { TestsetRow } from './row-panel.tsx'
import {
  KEY_COLUMN,
  type Row,
  type Testset,
  type TestsetRevision,
  type Shape,
  useGridRows,
  useShape,
} from './rows.ts'
import styles from './testset.module.css'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { useNavigate } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'

export interface RowsViewProps {
  readonly testset: Testset
  readonly revision: TestsetRevision
  readonly total: number
  /** Called with a dropped file. */
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

interface CellDialogProps {
  /** The row's number, from 1. */
  readonly number: number
  readonly column: string
  readonly row: Row | undefined
  readonly close: () => void
}

/** The whole value of a cell. */
function CellDialog({ number, column, row, close }: CellDialogProps) {
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
          <p className="muted">
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
          <span className="muted">Dedup id of the row</span>
          <Copyable text={row.key} label="Dedup id of the row" />
        </div>
      )}
    </Modal>
  )
}

function counted(count: number, one: string): string {
  return `${count.toLocaleString()} ${one}${count === 1 ? '' : 's'}`
}

interface EditHelpProps {
  readonly open: boolean
  readonly close: () => void
  readonly testset: Testset
  readonly revision: TestsetRevision
  readonly row: Row | undefined
  readonly column: string | undefined
}

/** The command that changes the focused cell. */
function EditHelp({ open, close, testset, revision, row, column }: EditHelpProps) {
  return (
    <Modal open={open} close={close} title="Edit cells">
      <p>
        Change a cell with this command. It replaces the row and leaves all others as they are. If somebody
        saved a newer version meanwhile, the server refuses, so nothing is overwritten.
      </p>
      <Copyable label="Changes this row" text={commandFor(testset, revision, row, column)} />
      <p>Or use git: clone the testset, change the row’s file, commit and push.</p>
      <Copyable label="Clones the testset" text={`git clone ${testset.git_url}`} />
    </Modal>
  )
}

function commandFor(
  testset: Testset,
  revision: TestsetRevision,
  row: Row | undefined,
  column: string | undefined,
): string {
  const commit = {
    testset_revision_commit: {
      testset_variant_id: revision.testset_variant_id,
      testset_revision_id: revision.id,
      message: 'Change a cell',
      delta: {
        rows: {
          replace: [
            {
              id: row?.id ?? '<id of the testcase>',
              data: changed(row, column),
            },
          ],
        },
      },
    },
  }
  const body = JSON.stringify(commit, null, 2).replaceAll("'", "'\\''")
  return `# ${testset.slug}
curl -X POST ${location.origin}/testsets/revisions/commit \\
  -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' \\
  -d '${body}'`
}

/** The row with its cell changed. A long row is replaced by a placeholder, which the server refuses. */
function changed(row: Row | undefined, column: string | undefined): unknown {
  const data = { ...row?.values, [column ?? 'column']: 'new value' }
  const { length } = JSON.stringify(data)
  return row && length <= LONGEST_SHOWN ? data : '<all cells of the row, one of them changed>'
}

const LONGEST_SHOWN = 4000

type Search = Readonly<Record<string, string | undefined>>

/** The address is updated after this pause, in milliseconds: moves are faster than a browser allows. */
const REST = 400

/**
 * The focused cell, which is in the address (`?at=<row from 1>&column=`). A link with a dedup id alone (`?row=`) leads to the row's place in the
 * revision.
 */
function useActive(revisionId: string, columns: readonly string[], total: number) {
  const search = useAddress()
  const navigate = useNavigate()
  const here = placeIn(search, columns, total)
  const [active, setActive] = useState(here ?? { row: 0, column: 0 })
  // The places that this page sent to the router: they are not the user's moves.
  const sent = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const isNamed = search['row'] !== undefined && search['at'] === undefined && total > 0
  const found = useRoute(
    'POST /testsets/rows/find',
    { body: { testset_revision_ref: { id: revisionId }, dedup_id: search['row'] ?? '' } },
    { enabled: isNamed, immutable: true },
  )
  const offset = isNamed ? found.data?.row.offset : undefined
  useEffect(() => {
    if (offset === undefined) return
    const { column } = search
    show({}, { row: offset, column: column === undefined ? 0 : columns.indexOf(column) + 1 }, true)
  }, [offset])

  // The user went back, or followed a link to a cell of this page.
  const arrived = here && `${here.row} ${here.column}`
  useEffect(() => {
    const at = sent.current.indexOf(arrived ?? '')
    if (at >= 0) sent.current.splice(0, at + 1)
    else if (here) setActive(here)
  }, [arrived])

  function go(place: GridPlace, what: Search, replace: boolean): void {
    clearTimeout(timer.current)
    if (`${place.row} ${place.column}` !== arrived) sent.current.push(`${place.row} ${place.column}`)
    const address = { at: String(place.row + 1), column: columns[place.column - 1] }
    void navigate({ to: '.', search: (before: Search) => ({ ...before, ...address, ...what }), replace })
  }

  /** Moves to a cell. */
  function move(place: GridPlace): void {
    setActive(place)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => go(place, {}, true), REST)
  }

  /** Changes the other parameters of the address together with the cell. */
  function show(what: Search, place = active, replace = false): void {
    setActive(place)
    go(place, what, replace)
  }

  return {
    active,
    move,
    show,
    search,
    /** While the row of a link is looked up. */
    isLooking: isNamed && found.isPending,
    /** Why that row was not found. */
    missing: isNamed ? found.error : null,
  }
}

/** The cell in an address; undefined if it has none. */
function placeIn({ at, column }: Search, columns: readonly string[], total: number): GridPlace | undefined {
  const row = Number(at)
  if (!Number.isInteger(row) || row < 1 || total === 0) return undefined
  return { row: Math.min(row, total) - 1, column: column === undefined ? 0 : columns.indexOf(column) + 1 }
}
