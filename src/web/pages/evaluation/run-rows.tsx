import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, Link } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { call } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
import { ChoiceField } from '../../parts/fields/fields.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { clipped, dollars, textOf } from '../../parts/text/text.tsx'
import { duration } from '../../parts/time/time.tsx'
import { Values } from '../../parts/values/values.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { outcomeOf, type RowResult, Verdict, Reason, Value } from './outcome.tsx'
import {
  useOpenRow,
  useExpectedColumns,
  expectedOf,
  InputsCell,
  OutputCell,
  VirtualTable,
  OpenedRow,
} from './row-table.tsx'
import { RowAgain } from './row-again.tsx'
import styles from './rows.module.css'
import { News } from '../../shell/live.tsx'

const OUTCOMES = ['passed', 'failed', 'error'] as const

/** The results of the rows, and the opened row beside them. */
export function RunRows({ run }: { readonly run: Evaluation }) {
  const { id, state, summary } = run
  const search = useAddress()
  const shown: RowsShown = {
    outcome: OUTCOMES.find((it) => it === search['show']),
    evaluator: run.evaluators.find(({ name }) => name === search['by'])?.name,
  }
  const navigate = useNavigate()
  const { rows, error, isPending, isBehind, catchUp, loadMore, refetch } = useRows(run, shown, summary.done)
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
      <News show={catchUp}>{isBehind && 'More rows are ready'}</News>
      {error ? (
        <Failure error={error} retry={refetch} />
      ) : isPending ? (
        <Skeleton label="Loading the rows" lines={10} />
      ) : rows.length === 0 ? (
        <Empty
          command={`curl "$BRANCHPOINT_URL/evaluations/${id}/results" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"result": {"outcome": "failed"}}'`}
        >
          {shown.outcome !== undefined
            ? 'No rows match.'
            : state === 'running'
              ? 'No row is done yet; each shows up here when it is.'
              : 'No row was run.'}
        </Empty>
      ) : (
        <div className={open.row === undefined ? undefined : styles.beside}>
          <VirtualTable
            label="Rows of the evaluation"
            columns={['Row', 'Output', 'Expected', 'Results', 'Took']}
            number="Took"
            minWidth={680}
            widths="minmax(0, 3fr) minmax(0, 3fr) minmax(0, 2fr) minmax(190px, 2fr) 72px"
            rows={rows}
            lines={Math.max(2, run.evaluators.length)}
            keyOf={({ result }) => result.testcase_id}
            cells={(row) => <Cells run={run} row={row} expected={expected} />}
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

interface RowFiltersProps {
  readonly run: Evaluation
  readonly shown: RowsShown
  readonly show: (shown: RowsShown) => void
}

const CHOICES = [
  { value: undefined, label: 'All rows' },
  { value: 'failed', label: 'Failed' },
  { value: 'error', label: 'Errors' },
  { value: 'passed', label: 'Passed' },
] as const

/** The filters of rows: by outcome, and by evaluator. */
function RowFilters({ run, shown, show }: RowFiltersProps) {
  return (
    <div className={styles.filters}>
      <Toggles
        label="Rows shown"
        choices={CHOICES}
        value={shown.outcome}
        onChange={(outcome) => show({ ...shown, outcome })}
      />
      {run.evaluators.length > 1 && (
        <ChoiceField
          label="Evaluator"
          value={shown.evaluator ?? ''}
          choices={[
            { value: '', label: 'any evaluator' },
            ...run.evaluators.map(({ name, version }) => ({ value: name, label: `${name} v${version}` })),
          ]}
          onChange={(name) => show({ ...shown, evaluator: name === '' ? undefined : name })}
        />
      )}
    </div>
  )
}

interface CellsProps {
  readonly run: Evaluation
  readonly row: EvaluatedRow
  readonly expected: readonly string[]
}

function Cells({ run, row: { result, data, dedupId }, expected }: CellsProps) {
  const wanted = expectedOf(data, expected)
  return (
    <>
      <InputsCell data={data} dedupId={dedupId} without={wanted?.column} />
      <OutputCell result={result} />
      <span role="cell" className="two-lines" dir="auto">
        {wanted ? clipped(textOf(wanted.value)) : '–'}
      </span>
      <span role="cell" className={styles.verdicts}>
        {run.evaluators.map(({ name, version }) => (
          <Verdict key={name} name={name} version={version} outcome={outcomeOf(result.evaluators[name])} />
        ))}
      </span>
      <span role="cell" className={styles.took}>
        <Link
          to={places.trace(result.trace_id)}
          onClick={(event) => event.stopPropagation()}
          title="Its trace"
        >
          {result.usage ? duration(result.usage.duration_ms) : 'trace'}
        </Link>
      </span>
    </>
  )
}

interface RowPanelProps {
  readonly run: Evaluation
  readonly testcaseId: string
  readonly expected: readonly string[]
  readonly close: () => void
}

/** All about one row, fetched by itself: the address may open a row that is not loaded. */
function RowPanel({ run, testcaseId, expected, close }: RowPanelProps) {
  const results = useRoute('POST /evaluations/{id}/results', {
    path: { id: run.id },
    body: { result: { testcase_ids: [testcaseId] } },
  })
  const testcases = useRoute(
    'POST /testcases/query',
    { body: { testcase_ids: [testcaseId] } },
    { immutable: true },
  )
  const error = results.error ?? testcases.error
  const result = results.data?.results[0]
  const { testcase_dedup_id: dedupId, ...data } = testcases.data?.testcases[0]?.data ?? {}
  const wanted = expectedOf(data, expected)
  return (
    <OpenedRow title={typeof dedupId === 'string' && <code dir="auto">{dedupId}</code>} close={close}>
      {error && <Failure error={error} />}
      {!error && !results.data && <Skeleton label="Loading the row" />}
      {results.data && !result && <p>This evaluation has not run the row yet.</p>}
      {result && (
        <>
          <nav aria-label="Of this row">
            <Link to={places.trace(result.trace_id)}>Its trace</Link>
            {typeof dedupId === 'string' && (
              <Link to={places.testset(run.testset.artifact_slug)} search={{ row: dedupId } as never}>
                Its history in {run.testset.artifact_slug}
              </Link>
            )}
          </nav>
          <RowAgain key={testcaseId} run={run} result={result} />
          <section>
            <h3>Inputs</h3>
            <Values data={data} without={wanted?.column} />
          </section>
          <section>
            <h3>
              Output <UsageNote of={result} />
            </h3>
            <Value of={result.application} />
          </section>
          {wanted && (
            <section>
              <h3>Expected ({wanted.column})</h3>
              <Value of={{ outputs: wanted.value as never }} />
            </section>
          )}
          {run.evaluators.map(({ name, version }) => (
            <section key={name}>
              <h3>
                {name} v{version} <Verdict outcome={outcomeOf(result.evaluators[name])} />
              </h3>
              {result.evaluators[name] && <Reason of={result.evaluators[name]} />}
            </section>
          ))}
        </>
      )}
    </OpenedRow>
  )
}

/** What the row took, the evaluators with the prompt. */
function UsageNote({ of: { usage } }: { readonly of: RowResult }) {
  if (!usage) return null
  const { duration_ms: took, tokens, costs } = usage
  return (
    <span className={styles.usage}>
      {duration(took)}
      {tokens && ` · ${tokens.total.toLocaleString()} tokens`}
      {costs && ` · ${dollars(costs.total)}`}
    </span>
  )
}

/** A row of an evaluation with its result. */
interface EvaluatedRow extends RowFacts {
  readonly result: RowResult
}

/** The filters in the address. */
interface RowsShown {
  readonly outcome: 'passed' | 'failed' | 'error' | undefined
  readonly evaluator: string | undefined
}

interface RowsPage {
  readonly rows: readonly EvaluatedRow[]
  readonly next: string | undefined
}

const PAGE = 100

/** The rows of an evaluation in the testset's order, page by page. When `done` grows, new rows are loaded, or `isBehind` is true. */
function useRows({ id, state }: Evaluation, { outcome, evaluator }: RowsShown, done: number) {
  const { data, error, isPending, hasNextPage, isFetching, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['evaluation rows', id, outcome, evaluator],
      queryFn: async ({ pageParam: next, signal }): Promise<RowsPage> => {
        const answer = await call(
          'POST /evaluations/{id}/results',
          {
            path: { id },
            body: {
              result: { ...(outcome && { outcome }), ...(evaluator === undefined ? {} : { evaluator }) },
              // A finished evaluation answers this order by itself.
              ...(state === 'finished' ? {} : { order: 'testset' }),
              windowing: { limit: PAGE, ...(next === undefined ? {} : { next }) },
            },
          },
          signal,
        )
        const facts = await rowFacts(answer.results, signal)
        return {
          rows: answer.results.map((result, at) => ({ result, ...facts[at] })),
          next: answer.windowing?.next,
        }
      },
      initialPageParam: undefined as string | undefined,
      getNextPageParam: ({ next }) => next,
      staleTime: 2000,
    })
  const rows = data?.pages.flatMap((page) => page.rows) ?? []
  const pages = data?.pages.length ?? 0
  // The count at the last fetch: a row is stored before it is counted.
  const [asked, setAsked] = useState(done)
  const isBehind = pages > 0 && !hasNextPage && !isFetching && asked !== done
  const catchUp = useCallback(() => {
    setAsked(done)
    void refetch()
  }, [done, refetch])
  useEffect(() => {
    // New rows are loaded by themselves while there are few pages.
    if (isBehind && pages <= 2) catchUp()
  }, [isBehind, pages, catchUp])
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [hasNextPage, isFetchingNextPage, fetchNextPage])
  return { rows, error, isPending, isBehind, catchUp, loadMore, refetch }
}

/** The row of the testset. */
interface RowFacts {
  /** The columns without the dedup id; undefined if the testset is gone. */
  readonly data?: Readonly<Record<string, unknown>>
  readonly dedupId?: string
}

/** The rows of results, in their order. */
async function rowFacts(results: readonly RowResult[], signal: AbortSignal): Promise<readonly RowFacts[]> {
  if (results.length === 0) return []
  const ids = [...new Set(results.map((it) => it.testcase_id))]
  const { testcases } = await call('POST /testcases/query', { body: { testcase_ids: ids } }, signal)
  const dataOf = new Map(testcases.map(({ id, data }) => [id, data]))
  return results.map(({ testcase_id: id }) => {
    const { testcase_dedup_id: dedupId, ...data } = dataOf.get(id) ?? {}
    return {
      ...(dataOf.has(id) ? { data } : {}),
      ...(typeof dedupId === 'string' ? { dedupId } : {}),
    }
  })
}
