import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { places } from '../../../shell/places.ts'
import { useOpenRow } from '../use-open-row.ts'
import { RowFilters } from './row-filters.tsx'
import { RowPanel } from './row-panel.tsx'
import { RowTable } from './row-table.tsx'
import { useExpectedColumns } from './use-expected.ts'
import { type RowsShown, useRows } from './use-rows.ts'
import styles from './rows.module.css'

const OUTCOMES = ['passed', 'failed', 'error'] as const

/** What came of each row; one that is opened stands at the right. */
export function RunRows({ run }: { readonly run: Evaluation }) {
  const { id, state, summary } = run
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const shown: RowsShown = {
    outcome: OUTCOMES.find((it) => it === search['show']),
    evaluator: run.evaluators.find(({ name }) => name === search['by'])?.name,
  }
  const navigate = useNavigate()
  const { rows, error, isPending, isBehind, catchUp, loadMore, refetch } = useRows(id, shown, summary.done)
  const expected = useExpectedColumns(run.evaluators)
  const open = useOpenRow()
  const show = (next: RowsShown): void =>
    void navigate({
      to: places.evaluation(id),
      search: { show: next.outcome, by: next.evaluator } as never,
    })
  return (
    <>
      <RowFilters run={run} shown={shown} show={show} />
      <div role="status">
        {isBehind && (
          <p className={styles.news}>
            More rows are done:{' '}
            <button type="button" onClick={catchUp}>
              show
            </button>
          </p>
        )}
      </div>
      {error ? (
        <Failure error={error} retry={refetch} />
      ) : isPending ? (
        <Skeleton label="Loading the rows" lines={10} />
      ) : rows.length === 0 ? (
        <Empty
          command={`curl "$BRANCHPOINT_URL/evaluations/${id}/results" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"result": {"outcome": "failed"}}'`}
        >
          {shown.outcome !== undefined
            ? 'No row ended like this.'
            : state === 'running'
              ? 'No row is done yet; each shows up here when it is.'
              : 'No row was run.'}
        </Empty>
      ) : (
        <div className={open.row === undefined ? undefined : styles.beside}>
          <RowTable
            run={run}
            rows={rows}
            expected={expected}
            loadMore={loadMore}
            opened={open.row}
            open={open.open}
            close={open.close}
          />
          {open.row !== undefined && (
            <RowPanel run={run} testcaseId={open.row} expected={expected} close={open.close} />
          )}
        </div>
      )}
    </>
  )
}
