import { useMemo, useState } from 'react'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { DiffFrame } from '../diff/diff-frame.tsx'
import { visible } from '../diff/model/visible.ts'
import { Failure } from '../states/failure.tsx'
import { Skeleton } from '../states/skeleton.tsx'
import { ChangedCell, PlainCell } from './row-cells.tsx'
import { type ChangedRow, changedRows, comparedColumns, DEDUP_ID } from './changed-rows.ts'
import styles from './row-diff.module.css'

/** What a revision of a testset is named by: `{id}`, or `{slug, version}`. */
export type TestsetRevisionReference = NonNullable<Ask<'POST /testsets/revisions/diff'>['body']>['base']

export interface RowDiffProps {
  readonly base: TestsetRevisionReference
  readonly head: TestsetRevisionReference
}

const PAGE = 50
/** So many columns are shown at first. */
const MOST_COLUMNS = 20

/** Which rows of a testset were added, removed and changed: a table with old above new in the cells that changed. */
export function RowDiff({ base, head }: RowDiffProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /testsets/revisions/diff',
    { body: { base, head, windowing: { limit: PAGE } } },
  )
  const [showsAll, setShowsAll] = useState(false)
  const [most, setMost] = useState(MOST_COLUMNS)
  const { rows, added, removed, changed, same } = useMemo(() => comparisonOf(data?.pages ?? []), [data])
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading which rows changed" lines={10} />
  const columns = (showsAll ? [...changed, ...same] : changed).slice(0, most)
  const hidden = changed.length + (showsAll ? same.length : 0) - columns.length
  return (
    <DiffFrame
      summary={summaryOf(rows, hasNextPage)}
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
        <div className={styles.scroll} role="region" aria-label="Rows that changed" tabIndex={0}>
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
      <p className={styles.more}>
        {hidden > 0 && (
          <Button onClick={() => setMost(most + MOST_COLUMNS)}>
            Show more columns: {hidden.toLocaleString()} are left
          </Button>
        )}
        {hasNextPage && (
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {isFetchingNextPage ? 'Loading …' : 'Show more rows'}
          </Button>
        )}
      </p>
    </DiffFrame>
  )
}

function comparisonOf(pages: readonly Answer<'POST /testsets/revisions/diff'>[]) {
  const rows = changedRows(pages.map(({ diff }) => diff.rows))
  const added = named(pages[0]?.diff.columns.added)
  const removed = named(pages[0]?.diff.columns.removed)
  return { rows, added, removed, ...comparedColumns(rows, [...added, ...removed]) }
}

/** Columns that a testset has by itself are no news. */
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

function summaryOf(rows: readonly ChangedRow[], hasMore: boolean): string {
  if (rows.length === 0) return 'No row changed'
  const count = (kind: ChangedRow['kind']): number => rows.filter((it) => it.kind === kind).length
  const parts = (['changed', 'added', 'removed'] as const)
    .map((kind) => [count(kind), kind] as const)
    .filter(([many]) => many > 0)
    .map(
      ([many, kind], at) =>
        `${many.toLocaleString()} ${at === 0 ? `${many === 1 ? 'row' : 'rows'} ` : ''}${kind}`,
    )
  return `${hasMore ? 'The first ' : ''}${parts.join(', ')}`
}
