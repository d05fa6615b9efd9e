import { useNavigate } from '@tanstack/react-router'
import { useEffect, useMemo, useRef, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { type DraftLock, useDraftLock } from '../../parts/drafts/draft-lock.ts'
import type { GridPlace } from '../../parts/grid/geometry.ts'
import { Grid } from '../../parts/grid/grid.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { chooseFile, FileDrop } from '../../parts/upload/upload.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { useAddress } from '../../shell/places.ts'
import { useRefusal, useSession } from '../../shell/session.tsx'
import { CellBar } from './cell-bar.tsx'
import { CellEditor, counted } from './draft/cell-editor.tsx'
import { SheetBar } from './draft/sheet-bar.tsx'
import { rowCount } from './draft/rows-draft.ts'
import { type KeptRows, readRows, type RowsBase, useRowsDraft } from './draft/use-rows-draft.ts'
import { useSheet } from './draft/use-sheet.ts'
import { TestsetRow } from './row-panel.tsx'
import {
  KEY_COLUMN,
  type Row,
  type Testset,
  type TestsetRevision,
  type Shape,
  useGridRows,
  useReadRows,
  useShape,
} from './rows.ts'
import styles from './testset.module.css'

export interface RowsViewProps {
  readonly testset: Testset
  /** The shown revision; undefined for a testset without a version. */
  readonly revision: TestsetRevision | undefined
  readonly total: number
  /** Whether the address names the version: then rows are only shown. */
  readonly isPinned: boolean
  /** Called with a dropped file. */
  readonly drop: (file: File) => void
}

/** The rows of a revision; those of a variant's newest one can be edited. The edits are a draft in the browser. */
export function RowsView(props: RowsViewProps) {
  const { testset, revision, total, isPinned } = props
  const { project } = useSession()
  const variantSlug = revision?.testset_variant_slug ?? testset.slug
  const name = `${project}/${testset.slug}/${variantSlug}/rows`
  // A tab that only shows a version must not keep others from editing.
  const lock = useDraftLock(isPinned ? `${name} ${revision?.version}` : name)
  // A draft that was read before another tab held the lock is not shown after it.
  const [read, setRead] = useState<{ readonly of: string; readonly kept: KeptRows | undefined }>()
  const wanted = `${name} ${String(lock.isHeld)}`
  useEffect(() => {
    if (lock.isHeld === undefined) return
    readRows(name)
      // The bar says it when the browser cannot keep drafts.
      .catch(() => undefined)
      .then((kept) => setRead({ of: wanted, kept }))
  }, [wanted])
  const isRead = read?.of === wanted
  const kept = isPinned || !isRead ? undefined : read.kept
  // While there are changes, their base is shown; then the newest version.
  const [edited, setEdited] = useState<{ readonly of: string; readonly base: RowsBase | undefined }>()
  const from = edited?.of === wanted ? edited.base : kept?.base
  const { shape, error, refetch } = useShape(from ? from.id : revision?.id)
  const ready = useRef<{ readonly base: RowsBase; readonly shape: Shape }>(undefined)
  if (shape) {
    const { current } = ready
    const id = from ? from.id : revision?.id
    if (
      current?.base.id !== id ||
      current?.shape !== shape ||
      current.base.total !== (from?.total ?? total)
    ) {
      const head = {
        ...{
          id: revision?.id,
          version: Number(revision?.version ?? 0),
          variantSlug,
          total,
          columns: shape.columns,
        },
        variantId: revision?.testset_variant_id ?? testset.variant_id ?? '',
      }
      ready.current = { shape, base: from ?? head }
    }
  }
  if (error) return <Failure error={error} retry={refetch} />
  if (!ready.current || !(isRead || isPinned)) return <Skeleton label="Loading the rows" lines={16} />
  return (
    <SheetView
      key={`${wanted} ${String(isPinned)}`}
      {...props}
      {...ready.current}
      name={name}
      begun={kept}
      lock={lock}
      onEdited={(of) => setEdited({ of: wanted, base: of })}
    />
  )
}

interface SheetViewProps extends RowsViewProps {
  readonly base: RowsBase
  readonly shape: Shape
  /** The name of the draft. */
  readonly name: string
  readonly begun: KeptRows | undefined
  readonly lock: DraftLock
  /** Called with the base once there are changes, and without one once there are none. */
  readonly onEdited: (base: RowsBase | undefined) => void
}

function SheetView({
  testset,
  revision,
  isPinned,
  drop,
  base,
  shape,
  name,
  begun,
  lock,
  onEdited,
}: SheetViewProps) {
  const { sample, pageSize } = shape
  const refusal = useRefusal('write')
  const isArchived = testset.deleted_at !== undefined
  const mayEdit = !isPinned && !isArchived && refusal === undefined && lock.isHeld === true
  const state = useRowsDraft(name, base, begun, mayEdit)
  const { draft, isDirty } = state
  useEffect(() => onEdited(isDirty ? base : undefined), [isDirty])
  const columns = useMemo(() => draft.columns.map((it) => it.name), [draft.columns])
  const known = useMemo(() => new Set(base.columns), [base])
  const { rowAt, baseAt, onSeen, error, refetch } = useGridRows(base.id, known, pageSize, draft)
  const readRowsAt = useReadRows(base.id, pageSize)
  const total = rowCount(draft)
  const { active, move, show, search, isLooking, missing } = useActive(
    base.id,
    columns,
    mayEdit ? total + 1 : total,
  )
  const [anchor, setAnchor] = useState<GridPlace>()
  const goTo = (place: GridPlace, other?: GridPlace): void => {
    setAnchor(other)
    move(place)
  }
  const sheet = useSheet({
    ...{ base, state, rowAt, baseAt, sample, active, anchor, move: goTo },
    read: readRowsAt,
    typesKey: `branchpoint-types-${testset.id}`,
  })
  const row = active.row < total ? rowAt(active.row) : undefined
  const column = columns[active.column - 1]
  const { row: historyOf, open, type } = search
  const history = (place: GridPlace): void => {
    const there = place.row < total ? rowAt(place.row) : undefined
    if (there && !there.isNew) show({ row: there.key }, place)
  }
  const openAt = (place: GridPlace): void => {
    setAnchor(undefined)
    if (place.column === 0) history(place)
    else show({ open: '1' }, place)
  }
  useCommands([
    {
      id: 'row history',
      title: 'History of the row',
      keys: 'mod+i',
      group: 'Grid',
      run: () => history(active),
    },
  ])
  if (base.id === undefined && !isDirty && type === undefined)
    return <NoRows testset={testset} drop={drop} begin={() => show({ type: '1' })} />
  return (
    <FileDrop className={styles.rows} label="Drop a file to upload it as the next version" drop={drop}>
      <CellBar
        total={total}
        active={active}
        column={column ?? KEY_COLUMN}
        row={active.row < total ? row : BLANK_ROW}
        go={(number) => goTo({ row: number - 1, column: active.column })}
        open={() => openAt(active)}
        history={() => history(active)}
      />
      {!isPinned && (
        <SheetBar
          {...{ testset, base, state, sheet, lock, active, columns }}
          read={readRowsAt}
          refusal={isArchived ? 'The testset is archived: bring it back first.' : refusal}
          newest={revision}
        />
      )}
      {error && <Failure error={error} retry={refetch} />}
      {missing && <Failure error={missing} />}
      <div className={styles.side}>
        {isLooking ? (
          <Skeleton label={`Looking for the row ${historyOf ?? ''}`} lines={16} />
        ) : (
          <Grid
            label={`Rows of ${testset.slug}`}
            keyName="Row ID"
            columns={columns}
            total={total}
            rowAt={rowAt}
            sample={sample}
            onSeen={onSeen}
            active={active}
            anchor={anchor}
            onActive={(place, extending = false) => goTo(place, extending ? (anchor ?? active) : undefined)}
            onOpen={openAt}
            onCopy={sheet.copied}
            editing={mayEdit && !state.isSaved ? sheet.editing : undefined}
            widthsKey={`branchpoint-widths-${testset.id}`}
            marked={historyOf}
          />
        )}
        {historyOf !== undefined && revision && (
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
      {open !== undefined &&
        column !== undefined &&
        (mayEdit && (row || active.row >= total) ? (
          <CellEditor
            key={`${active.row} ${column}`}
            number={active.row + 1}
            column={column}
            value={sheet.valueAt(active)}
            type={sheet.typeAt(active.column - 1)}
            apply={(value) => sheet.setValue(active, value)}
            close={() => show({ open: undefined })}
          />
        ) : (
          <CellDialog
            number={active.row + 1}
            column={column}
            row={row}
            close={() => show({ open: undefined })}
          />
        ))}
    </FileDrop>
  )
}

const BLANK_ROW: Row = { id: '', key: '', values: {} }

/** A testset without a version. */
function NoRows({
  testset,
  drop,
  begin,
}: {
  readonly testset: Testset
  readonly drop: (file: File) => void
  readonly begin: () => void
}) {
  return (
    <FileDrop className={styles.rows} label="Drop a file to make the first version" drop={drop}>
      <Empty
        action={
          <>
            <Button kind="primary" needs="write" onClick={begin}>
              Type rows
            </Button>
            <Button needs="write" onClick={() => void chooseFile().then((file) => file && drop(file))}>
              Choose a file
            </Button>
          </>
        }
      >
        <b>{testset.slug}</b> has no rows yet. Type or paste them, or drop a CSV, JSON, JSONL or Excel file
        here.
      </Empty>
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
        <div className="gap-above">
          <span className="muted">Row ID</span>
          <Copyable text={row.key} label="Row ID" />
        </div>
      )}
    </Modal>
  )
}

type Search = Readonly<Record<string, string | undefined>>

/** The address is updated after this pause, in milliseconds: moves are faster than a browser allows. */
const REST = 400

/**
 * The focused cell, which is in the address (`?at=<row from 1>&column=`). A link with a dedup id alone (`?row=`) leads to the row's place in the
 * revision.
 */
function useActive(revisionId: string | undefined, columns: readonly string[], total: number) {
  const search = useAddress()
  const navigate = useNavigate()
  const here = placeIn(search, columns, total)
  const [active, setActive] = useState(here ?? { row: 0, column: 0 })
  // The places that this page sent to the router: they are not the user's moves.
  const sent = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const isNamed =
    search['row'] !== undefined && search['at'] === undefined && total > 0 && revisionId !== undefined
  const found = useRoute(
    'POST /testsets/rows/find',
    { body: { testset_revision_ref: { id: revisionId ?? '' }, dedup_id: search['row'] ?? '' } },
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
