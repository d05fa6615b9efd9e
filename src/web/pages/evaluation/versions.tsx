import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useCallback } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { type Evaluation, percent, shownScore, judgePairs } from '../../parts/evaluation/evaluation.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Table } from '../../parts/table/table.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { COMMAND } from '../../shell/document.ts'
import { places, useAddress } from '../../shell/places.ts'
import { JudgeAgain } from './judge-again.tsx'
import styles from './evaluation.module.css'

const LineChart = lazy(() =>
  import('../../parts/chart/line-chart.tsx').then(({ LineChart: Chart }) => ({ default: Chart })),
)

const METRICS: readonly { readonly metric: Metric; readonly label: string }[] = [
  { metric: 'rate', label: 'Passed' },
  { metric: 'score', label: 'Mean score' },
]

/** The evaluations of a variant's versions on the same testset, as a chart and as a table. */
export function Versions({ run }: { readonly run: Evaluation }) {
  const { metric: asked } = useAddress()
  const metric: Metric = asked === 'score' ? 'score' : 'rate'
  const { runs, variant, error, refetch } = useRunsOfVariant(run)
  if (error) return <Failure error={error} />
  if (!runs) return <Skeleton label="Loading the evaluations of this variant" lines={10} />
  const chart = scoreLines(runs, metric)
  const shown = metric === 'rate' ? percent : shownScore
  return (
    <section aria-label="Over versions" className={styles.versions}>
      <p className={styles.note}>
        Every finished evaluation of <b>{variant}</b> on <b>{run.testset.artifact_slug}</b>, with the newest
        of each version in the chart. On few rows, a difference may be chance.
      </p>
      <Changed judges={chart.judges} />
      <LinkTabs
        label="What the chart shows"
        tabs={METRICS.map(({ metric: it, label }) => ({
          label,
          to: places.evaluation(run.id),
          search: { tab: 'versions', ...(it === 'rate' ? {} : { metric: it }) },
          isHere: it === metric,
        }))}
      />
      {chart.lines.length === 0 ? (
        <Empty command={`${COMMAND} evaluate --testset capitals --application support-bot --evaluator exact`}>
          No finished evaluation of this variant has a verdict or a score yet.
        </Empty>
      ) : (
        <Suspense fallback={<Skeleton label="Loading the chart" lines={8} />}>
          <LineChart
            label={`${metric === 'rate' ? 'Passed rows' : 'Mean score'} of ${variant} by version: the table below has the numbers`}
            places={chart.versions}
            lines={chart.lines}
            range={chart.range}
            placeName={(version) => `v${version}`}
            valueName={(value) => (metric === 'rate' ? `${Math.round(100 * value)} %` : String(value))}
          />
        </Suspense>
      )}
      <Table
        caption="Evaluations of this variant"
        columns={[
          {
            name: 'Version',
            cell: ({ id, application }) => <Link to={places.evaluation(id)}>v{application.version}</Link>,
          },
          { name: 'Testset', cell: ({ testset }) => `v${testset.version}` },
          { name: 'Rows', number: true, cell: ({ rows }) => rows.toLocaleString() },
          ...chart.judges.map(({ id, label }) => ({
            name: label,
            number: true,
            cell: (it: Evaluation) => shown(valueOf(it, id, metric)),
          })),
          { name: 'When', number: true, cell: ({ created_at: date }) => <Ago date={date} /> },
          ...(runs.some((it) => isToJudge(it, run, runs))
            ? [
                {
                  name: 'Not comparable',
                  cell: (it: Evaluation) =>
                    isToJudge(it, run, runs) && <JudgeAgain older={it} newer={run} done={refetch} />,
                },
              ]
            : []),
        ]}
        rows={runs}
        keyOf={({ id }) => id}
        isAt={({ id }) => id === run.id}
      />
    </section>
  )
}

/** Tells which evaluators judged these evaluations with more than one revision. */
function Changed({ judges }: Pick<ScoreLines, 'judges'>) {
  const labels = new Map<string, string[]>()
  for (const { evaluator, label } of judges) labels.set(evaluator, [...(labels.get(evaluator) ?? []), label])
  const changed = [...labels.values()].filter((of) => of.length > 1)
  if (changed.length === 0) return null
  return (
    <p className={styles.note}>
      The evaluator changed: {changed.map((of) => of.join(', ')).join('; ')}. Their scores are not comparable,
      so each version has its own line and column.
    </p>
  )
}

/** Whether an older evaluation was judged by other revisions, and its outputs have not been judged by the newer ones yet. */
function isToJudge(it: Evaluation, shown: Evaluation, runs: readonly Evaluation[]): boolean {
  if (it.created_at >= shown.created_at) return false
  const source = (of: Evaluation): string => of.outputs_from ?? of.id
  const same = runs.filter((other) => source(other) === source(it))
  return judgePairs(it, shown).some(
    ({ right: judge, isComparable }) =>
      !isComparable &&
      !same.some((other) => other.evaluators.some((by) => by.revision_id === judge.revision_id)),
  )
}

const NEWEST_READ = 500

/** The finished evaluations of the same variant on the same testset, newest first. */
function useRunsOfVariant({ application, testset }: Evaluation): {
  readonly runs: readonly Evaluation[] | undefined
  readonly variant: string
  readonly error: Error | null
  readonly refetch: () => void
} {
  const revision = useRoute(
    'GET /workflows/revisions/{id}',
    { path: { id: application.revision_id } },
    { immutable: true },
  )
  const variant = revision.data?.workflow_revision
  const log = useRoute(
    'POST /workflows/revisions/log',
    {
      body: {
        workflow_variant_ref: { id: variant?.variant_id ?? '' },
        include_archived: true,
        windowing: { limit: NEWEST_READ, order: 'descending' },
      },
    },
    { enabled: variant !== undefined },
  )
  const all = useRoute('POST /evaluations/query', {
    body: {
      evaluation: { application_id: application.artifact_id, state: 'finished' },
      windowing: { limit: NEWEST_READ, order: 'descending' },
    },
  })
  const { refetch: askAgain } = all
  const refetch = useCallback(() => void askAgain(), [askAgain])
  const ids = log.data && new Set(log.data.workflow_revisions.map(({ id }) => id))
  return {
    runs:
      ids &&
      all.data?.evaluations.filter(
        (it) =>
          it.testset.artifact_id === testset.artifact_id &&
          ids.has(it.application.revision_id) &&
          // The score of a single row says nothing of a version.
          it.testcase_ids === undefined,
      ),
    variant: variant?.variant_slug ?? application.artifact_slug,
    refetch,
    error: revision.error ?? log.error ?? all.error,
  }
}

/** The number shown in the chart. */
type Metric = 'rate' | 'score'

/** The data of the chart. */
interface ScoreLines {
  /** All revisions of evaluators among them. */
  readonly judges: readonly JudgeRevision[]
  readonly versions: readonly number[]
  readonly lines: readonly { readonly name: string; readonly values: readonly (number | null)[] }[]
  readonly range: readonly [number, number]
}

/** A revision of an evaluator. */
interface JudgeRevision {
  readonly id: string
  /** The evaluator's slug and version. */
  readonly label: string
  readonly evaluator: string
}

/**
 * One line for each revision of an evaluator, since two revisions are not comparable. If a version was evaluated more than once, the newest counts.
 * `runs` are newest first.
 */
function scoreLines(runs: readonly Evaluation[], metric: Metric): ScoreLines {
  const judges = new Map<string, JudgeRevision>()
  for (const { evaluators } of runs) {
    for (const { revision_id: id, revision_slug: slug, artifact_slug: evaluator, version } of evaluators) {
      if (judges.has(id)) continue
      const label = `${evaluator} v${version}`
      // Two variants of an evaluator may have the same version number.
      const isTaken = [...judges.values()].some((it) => it.label === label)
      judges.set(id, { id, label: isTaken ? slug : label, evaluator })
    }
  }
  const versions = [...new Set(runs.map(({ application }) => application.version))].sort(
    (left, right) => left - right,
  )
  const lines = [...judges.values()]
    .map(({ id, label }) => {
      const newest = new Map<number, number | null>()
      for (const run of runs) {
        const { version } = run.application
        if (run.evaluators.some((it) => it.revision_id === id) && !newest.has(version))
          newest.set(version, valueOf(run, id, metric))
      }
      return { name: label, values: versions.map((version) => newest.get(version) ?? null) }
    })
    .filter(({ values }) => values.some((value) => value !== null))
  const seen = lines.flatMap(({ values }) => values.filter((value) => value !== null))
  const least = seen.reduce((least, value) => Math.min(least, value), 0)
  const most = seen.reduce((most, value) => Math.max(most, value), 1)
  return { judges: [...judges.values()], versions, lines, range: [least, most] }
}

/** The result by a revision of an evaluator; null if it did not judge. */
function valueOf(run: Evaluation, revisionId: string, metric: Metric): number | null {
  const name = run.evaluators.find((it) => it.revision_id === revisionId)?.name
  const summary = name === undefined ? undefined : run.summary.evaluators[name]
  return (metric === 'rate' ? summary?.success_rate : summary?.mean_score) ?? null
}
