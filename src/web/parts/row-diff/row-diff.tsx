import { type ReactNode, useMemo, useState } from 'react'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { Button, MoreButton } from '../button/button.tsx'
import { DiffFrame } from '../diff/diff-frame.tsx'
import { visible } from '../text/text.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import styles from './row-diff.module.css'
import { LineText, TextDiff } from '../diff/lines.tsx'
import { wordMarks } from '../diff/line-diff.ts'

/** A reference to a revision of a testset: `{id}`, or `{slug, version}`. */
export type TestsetRevisionReference = NonNullable<Ask<'POST /testsets/revisions/diff'>['body']>['base']

export interface RowDiffProps {
  readonly base: TestsetRevisionReference
  readonly head: TestsetRevisionReference
}

const PAGE = 50
const COLUMNS_SHOWN_AT_FIRST = 20

/** The added, removed and changed rows of a testset, with old above new in changed cells. */
export function RowDiff({ base, head }: RowDiffProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /testsets/revisions/diff',
    { body: { base, head, windowing: { limit: PAGE, count_total: true } } },
  )
  const { rows, added, removed } = useMemo(() => comparisonOf(data?.pages ?? []), [data])
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading which rows changed" lines={10} />
  return (
    <RowChanges
      {...{ rows, added, removed }}
      hasMore={hasNextPage}
      total={data.pages[0]?.total}
      more={<MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }}>Show more rows</MoreButton>}
    />
  )
}

interface RowChangesProps {
  readonly rows: readonly ChangedRow[]
  /** Columns that were added, and removed. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  readonly hasMore: boolean
  /** How many rows differ in all, if there are more. */
  readonly total?: number | undefined
  /** Shows more rows. */
  readonly more: ReactNode
}

/** Changed rows as a table. */
export function RowChanges({ rows, added, removed, hasMore, total, more }: RowChangesProps) {
  const [showsAll, setShowsAll] = useState(false)
  const [most, setMost] = useState(COLUMNS_SHOWN_AT_FIRST)
  const { changed, same } = useMemo(
    () => comparedColumns(rows, [...added, ...removed]),
    [rows, added, removed],
  )
  const columns = (showsAll ? [...changed, ...same] : changed).slice(0, most)
  const hidden = changed.length + (showsAll ? same.length : 0) - columns.length
  return (
    <DiffFrame
      summary={summaryOf(rows, hasMore, total)}
      views={
        same.length > 0 && (
          <Button kind="quiet" aria-pressed={showsAll} onClick={() => setShowsAll(!showsAll)}>
            {showsAll ? 'Hide' : 'Show'} {same.length.toLocaleString()} unchanged{' '}
            {same.length === 1 ? 'column' : 'columns'}
          </Button>
        )
      }
      hasLayout={false}
    >
      {(added.length > 0 || removed.length > 0) && <Columns added={added} removed={removed} />}
      {rows.length === 0 ? (
        <p>No row changed.</p>
      ) : (
        <div className={`card ${styles.scroll}`} role="region" aria-label="Rows that changed" tabIndex={0}>
          <table className={styles.table}>
            <caption className="visually-hidden">Rows that changed, old above new</caption>
            <thead>
              <tr>
                <th scope="col">Row</th>
                {columns.map((column) => (
                  <th key={column} scope="col">
                    <bdi>{visible(column)}</bdi>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={`${row.kind} ${row.dedupId}`} row={row} columns={columns} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <p className="row">
        {hidden > 0 && (
          <Button onClick={() => setMost(most + COLUMNS_SHOWN_AT_FIRST)}>
            Show more columns: {hidden.toLocaleString()} are left
          </Button>
        )}
        {more}
      </p>
    </DiffFrame>
  )
}

function comparisonOf(pages: readonly Answer<'POST /testsets/revisions/diff'>[]) {
  const rows = changedRows(pages.map(({ diff }) => diff.rows))
  const added = named(pages[0]?.diff.columns.added)
  const removed = named(pages[0]?.diff.columns.removed)
  return { rows, added, removed }
}

/** The testset's own columns are not shown as changes. */
function named(columns: readonly string[] = []): readonly string[] {
  return columns.filter((column) => column !== DEDUP_ID)
}

const SIGNS = { added: '+', removed: '−', changed: '±' } as const

function Row({ row, columns }: { readonly row: ChangedRow; readonly columns: readonly string[] }) {
  return (
    <tr data-change data-kind={row.kind}>
      <th scope="row" title={row.kind}>
        <span aria-label={row.kind} role="img">
          {SIGNS[row.kind]}
        </span>{' '}
        <bdi>{visible(row.dedupId)}</bdi>
      </th>
      {columns.map((column) => {
        const [before, after] = [row.base?.[column], row.head?.[column]]
        return row.kind === 'changed' && JSON.stringify(before) !== JSON.stringify(after) ? (
          <ChangedCell key={column} base={before} head={after} />
        ) : (
          <PlainCell key={column} kind={row.kind} value={row.kind === 'removed' ? before : after} />
        )
      })}
    </tr>
  )
}

function Columns({
  added,
  removed,
}: {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}) {
  const listed = (names: readonly string[]): string =>
    names.slice(0, 20).map(visible).join(', ') + (names.length > 20 ? ` and ${names.length - 20} more` : '')
  return (
    <p>
      {added.length > 0 && <>Columns added: {listed(added)}. </>}
      {removed.length > 0 && <>Columns removed: {listed(removed)}.</>}
    </p>
  )
}

function summaryOf(rows: readonly ChangedRow[], hasMore: boolean, total: number | undefined): string {
  if (rows.length === 0) return 'No row changed'
  const count = (kind: ChangedRow['kind']): number => rows.filter((it) => it.kind === kind).length
  const parts = (['changed', 'added', 'removed'] as const)
    .map((kind) => [count(kind), kind] as const)
    .filter(([many]) => many > 0)
    .map(
      ([many, kind], at) =>
        `${many.toLocaleString()} ${at === 0 ? `${many === 1 ? 'row' : 'rows'} ` : ''}${kind}`,
    )
  if (!hasMore) return parts.join(', ')
  return `${total?.toLocaleString() ?? 'More'} rows differ. The first ${rows.length.toLocaleString()}: ${parts.join(', ')}`
}

/** Longer texts are cut. */
const LONG = 300

/** A changed cell: old above new. */
function ChangedCell({ base, head }: { readonly base: unknown; readonly head: unknown }) {
  const [isOpen, setOpen] = useState(false)
  const [before, after] = [textOf(base), textOf(head)]
  const isLong = (before?.length ?? 0) > LONG || (after?.length ?? 0) > LONG
  if (isOpen) {
    return (
      <td className={styles.wide}>
        <TextDiff label="What changed in the cell" base={before ?? ''} head={after ?? ''} />
        <button type="button" onClick={() => setOpen(false)}>
          show less
        </button>
      </td>
    )
  }
  const marks = isLong || before === undefined || after === undefined ? undefined : wordMarks(before, after)
  return (
    <td>
      <div className={styles.base} dir="auto">
        <span className={styles.sign}>−</span>
        {before === undefined ? <i>none</i> : <LineText side="base" parts={marks?.base ?? plain(before)} />}
      </div>
      <div className={styles.head} dir="auto">
        <span className={styles.sign}>+</span>
        {after === undefined ? <i>none</i> : <LineText side="head" parts={marks?.head ?? plain(after)} />}
      </div>
      {isLong && (
        <button type="button" onClick={() => setOpen(true)}>
          show what changed
        </button>
      )}
    </td>
  )
}

/** A cell of an added or removed row, or one that did not change. */
function PlainCell({ kind, value }: { readonly kind: ChangedRow['kind']; readonly value: unknown }) {
  const text = textOf(value)
  const tone = kind === 'added' ? styles.head : kind === 'removed' ? styles.base : undefined
  return (
    <td className={tone} dir="auto">
      {text !== undefined && <LineText side="head" parts={plain(text)} />}
    </td>
  )
}

function plain(text: string) {
  const shown = text.length > LONG ? `${text.slice(0, LONG)} …` : text
  return [{ text: shown, isChanged: false }]
}

function textOf(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  const compact = JSON.stringify(value)
  // Opened cells are compared line by line.
  return compact.length <= LONG ? compact : JSON.stringify(value, null, 1)
}

/** A row that one side lacks, or with changed cells. */
export interface ChangedRow {
  readonly kind: 'added' | 'removed' | 'changed'
  readonly dedupId: string
  /** The old cells, by column. */
  readonly base?: Readonly<Record<string, unknown>> | undefined
  readonly head?: Readonly<Record<string, unknown>> | undefined
}

type Rows = Answer<'POST /testsets/revisions/diff'>['diff']['rows']

/** The column that identifies rows. */
const DEDUP_ID = 'testcase_dedup_id'

/** The changed rows of all pages, in order. */
function changedRows(pages: readonly Rows[]): readonly ChangedRow[] {
  return pages.flatMap(({ changed, added, removed }) => [
    ...changed.map(({ dedup_id: dedupId, base, head }): ChangedRow => ({
      kind: 'changed',
      dedupId,
      base: base.data,
      head: head.data,
    })),
    ...added.map(({ data }): ChangedRow => ({ kind: 'added', dedupId: String(data[DEDUP_ID]), head: data })),
    ...removed.map(({ data }): ChangedRow => ({
      kind: 'removed',
      dedupId: String(data[DEDUP_ID]),
      base: data,
    })),
  ])
}

/** The columns with changes, and those without. The column that identifies rows is shown separately. */
function comparedColumns(
  rows: readonly ChangedRow[],
  moved: readonly string[],
): { readonly changed: readonly string[]; readonly same: readonly string[] } {
  const all = new Set<string>()
  const changed = new Set(moved)
  for (const { kind, base, head } of rows) {
    for (const column of [...Object.keys(head ?? {}), ...Object.keys(base ?? {})]) {
      if (column === DEDUP_ID) continue
      all.add(column)
      if (changed.has(column)) continue
      // All cells of an added or removed row changed.
      if (kind !== 'changed' || JSON.stringify(base?.[column]) !== JSON.stringify(head?.[column])) {
        changed.add(column)
      }
    }
  }
  return {
    changed: [...all].filter((it) => changed.has(it)),
    same: [...all].filter((it) => !changed.has(it)),
  }
}
