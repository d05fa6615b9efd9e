import { useParams, Link, useNavigate } from '@tanstack/react-router'
import { RunPage } from './run-page.tsx'
import { useRoute } from '../../api/use-route.ts'
import {
  differences,
  endNames,
  type Evaluation,
  EvaluationState,
  judgePairs,
  type JudgePair,
  percent,
  shownScore,
  versionName,
} from '../../parts/evaluation/evaluation.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Progress, Skeleton } from '../../parts/states/states.tsx'
import { places } from '../../shell/places.ts'
import { CompareRows, joinRows, type ComparedRow } from './compare-rows.tsx'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useCallback } from 'react'
import { call } from '../../api/call.ts'
import type { RowResult } from './outcome.tsx'
import { JudgeAgain } from './judge-again.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/time.tsx'
import styles from './compare.module.css'

/** `/eval/<id>`: one evaluation. `/eval/<id>...<id>`: a comparison of two. */
export default function EvaluationPage() {
  const { id = '' } = useParams({ strict: false }) as { readonly id?: string }
  const [left = '', right] = id.split('...')
  return right === undefined ? (
    <RunPage key={id} id={left} />
  ) : (
    <ComparePage key={id} left={left} right={right} />
  )
}

/** Compares two evaluations, which may be of different versions of prompt and testset. */
function ComparePage({ left, right }: { readonly left: string; readonly right: string }) {
  const before = useRoute('GET /evaluations/{id}', { path: { id: left } })
  const after = useRoute('GET /evaluations/{id}', { path: { id: right } })
  const error = before.error ?? after.error
  const [base, head] = [before.data?.evaluation, after.data?.evaluation]
  return (
    <Page
      crumbs={[
        { label: 'Evaluations', to: places.evaluations() },
        {
          label:
            base && head ? `${endNames(base, head)[1]} vs ${endNames(base, head)[0]}` : 'Two evaluations',
        },
      ]}
      wide
    >
      {error && <Failure error={error} />}
      {base && head ? (
        <Compared left={base} right={head} />
      ) : (
        !error && <Skeleton label="Loading the evaluations" />
      )}
    </Page>
  )
}

function Compared({ left, right }: { readonly left: Evaluation; readonly right: Evaluation }) {
  const { rows, judges, loaded, total, error } = useCompared(left, right)
  return (
    <>
      <CompareSummary left={left} right={right} judges={judges} rows={rows} />
      {error && <Failure error={error} />}
      {rows ? (
        <CompareRows left={left} right={right} judges={judges} rows={rows} />
      ) : (
        !error && <Progress label="Loading the rows of both" done={loaded} total={total} unit="rows" />
      )}
    </>
  )
}

const PAGE = 500

/** All finished rows of an evaluation, loaded page by page. */
function useAllResults(id: string) {
  const { data, error, hasNextPage, isFetching, fetchNextPage } = useInfiniteQuery({
    queryKey: ['all results', id],
    queryFn: ({ pageParam: next, signal }) =>
      call(
        'POST /evaluations/{id}/results',
        {
          path: { id },
          body: { windowing: { limit: PAGE, ...(next === undefined ? {} : { next }) } },
        },
        signal,
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ windowing }) => windowing?.next,
    staleTime: Infinity,
  })
  useEffect(() => {
    if (hasNextPage && !isFetching) void fetchNextPage()
  }, [hasNextPage, isFetching, fetchNextPage])
  const results = useMemo(
    () => data?.pages.flatMap((page): readonly RowResult[] => page.results) ?? [],
    [data],
  )
  return { results, error, isDone: data !== undefined && !hasNextPage }
}

/** The joined rows of two evaluations, once all are loaded; until then the progress. */
function useCompared(left: Evaluation, right: Evaluation) {
  const [before, after] = [useAllResults(left.id), useAllResults(right.id)]
  const isDone = before.isDone && after.isDone
  const alone = useMemo(() => {
    if (!isDone) return undefined
    const [these, those] = [idsOf(before.results), idsOf(after.results)]
    return [...these].filter((id) => !those.has(id)).concat([...those].filter((id) => !these.has(id)))
  }, [isDone, before.results, after.results])
  const dedup = useQuery({
    queryKey: ['dedup ids', left.id, right.id, alone?.length],
    queryFn: ({ signal }) => dedupIds(alone ?? [], signal),
    enabled: alone !== undefined,
    staleTime: Infinity,
  })
  const judges = useMemo(() => judgePairs(left, right), [left, right])
  const rows = useMemo(
    (): readonly ComparedRow[] | undefined =>
      isDone && dedup.data ? joinRows(before.results, after.results, judges, dedup.data) : undefined,
    [isDone, dedup.data, before.results, after.results, judges],
  )
  return {
    rows,
    /** The evaluators of both. */
    judges,
    loaded: before.results.length + after.results.length,
    total: left.summary.done + right.summary.done,
    error: before.error ?? after.error ?? dedup.error,
  }
}

function idsOf(results: readonly RowResult[]): ReadonlySet<string> {
  return new Set(results.map((row) => row.testcase_id))
}

async function dedupIds(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (let at = 0; at < ids.length; at += PAGE) {
    const part = ids.slice(at, at + PAGE)
    const { testcases } = await call('POST /testcases/query', { body: { testcase_ids: part } }, signal)
    for (const { id, data } of testcases) {
      const { testcase_dedup_id: dedupId } = data
      if (typeof dedupId === 'string') found.set(id, dedupId)
    }
  }
  return found
}

interface CompareSummaryProps {
  readonly left: Evaluation
  readonly right: Evaluation
  /** The evaluators of both. */
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[] | undefined
}

/** The two evaluations with their results. */
function CompareSummary({ left, right, judges, rows }: CompareSummaryProps) {
  const of = (run: Evaluation, name: string) => run.summary.evaluators[name]
  const [base, head] = endNames(left, right)
  const count = (change: ComparedRow['change']): number =>
    rows?.filter((row) => row.change === change).length ?? 0
  return (
    <section className={styles.summary} aria-label="Summary">
      <div className={styles.ends}>
        <End name={base} run={left} />
        <End name={head} run={right} />
      </div>
      {judges.length > 0 ? (
        <Table
          caption="Both evaluations by evaluator"
          columns={[
            { name: 'Evaluator', cell: ({ name }) => name },
            {
              name: 'Version',
              cell: ({ left: before, right: after, isComparable }) =>
                isComparable ? (
                  `v${before.version}`
                ) : (
                  <>
                    v{before.version} and v{after.version}: <b className={styles.nowrap}>not comparable</b>
                  </>
                ),
            },
            {
              name: `${base} passed`,
              number: true,
              cell: ({ left: judge }) => percent(of(left, judge.name)?.success_rate),
            },
            {
              name: `${head} passed`,
              number: true,
              cell: ({ right: judge }) => percent(of(right, judge.name)?.success_rate),
            },
            {
              name: `${base} mean score`,
              number: true,
              cell: ({ left: judge }) => shownScore(of(left, judge.name)?.mean_score),
            },
            {
              name: `${head} mean score`,
              number: true,
              cell: ({ right: judge }) => shownScore(of(right, judge.name)?.mean_score),
            },
          ]}
          rows={judges}
          keyOf={({ left: judge }) => judge.revision_id}
        />
      ) : (
        <p className="muted">No evaluator took part in both evaluations, so only outputs are compared.</p>
      )}
      <Differences left={left} right={right} />
      <Incomparable left={left} right={right} judges={judges} />
      {rows && (
        <p role="status">
          {[
            `${head} is better on ${rowsOf(count('better'))}`,
            `worse on ${rowsOf(count('worse'))}`,
            `better and worse on ${rowsOf(count('mixed'))}`,
            ...(count('not comparable') === 0
              ? []
              : [`not comparable on ${rowsOf(count('not comparable'))}`]),
            `different output on ${rows.filter((row) => row.isOutputChanged).length.toLocaleString()} of ${rowsOf(rows.length)}`,
          ].join(' · ')}
        </p>
      )}
    </section>
  )
}

function rowsOf(count: number): string {
  return count === 1 ? '1 row' : `${count.toLocaleString()} rows`
}

/** What differs besides the prompt's version. */
function Differences({ left, right }: Pick<CompareSummaryProps, 'left' | 'right'>) {
  const found = differences(left, right)
  if (found.length === 0) return null
  return (
    <div role="group" aria-label="What differs" className={`notice ${styles.differences}`}>
      {found.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
    </div>
  )
}

/** Tells if an evaluator changed between the evaluations, and offers to judge both with one revision. */
function Incomparable({ left, right, judges }: Omit<CompareSummaryProps, 'rows'>) {
  const navigate = useNavigate()
  const changed = judges.filter(({ isComparable }) => !isComparable)
  const isLeftOlder = Date.parse(left.created_at) <= Date.parse(right.created_at)
  const done = useCallback(
    (id: string) =>
      void navigate({
        to: isLeftOlder ? places.compareEvaluations(id, right.id) : places.compareEvaluations(left.id, id),
      }),
    [navigate, isLeftOlder, left.id, right.id],
  )
  if (changed.length === 0) return null
  return (
    <div className={styles.incomparable}>
      <p>
        A difference may come from the evaluator instead of the prompt, so{' '}
        {changed.map(({ name }) => name).join(', ')} {changed.length === 1 ? 'gives' : 'give'} no verdict
        here.
      </p>
      <JudgeAgain older={isLeftOlder ? left : right} newer={isLeftOlder ? right : left} done={done} />
    </div>
  )
}

function End({ name, run }: { readonly name: string; readonly run: Evaluation }) {
  const { id, application, testset, state, created_at: began } = run
  return (
    <div className="card">
      <h2>{name}</h2>
      <p>
        <Link to={places.evaluation(id)}>
          <b>{versionName(application)}</b> on {versionName(testset)}
        </Link>
      </p>
      <p className="row muted">
        <EvaluationState state={state} /> <Ago date={began} />
      </p>
    </div>
  )
}
