import { Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import {
  type Evaluation,
  EvaluationState,
  percent,
  shownScore,
  titleOf,
  versionName,
} from '../../parts/evaluation/evaluation.tsx'
import { Page } from '../../parts/page/page.tsx'
import { authorName, RevisionChip } from '../../parts/chips/chips.tsx'
import { Failure, Skeleton, Progress } from '../../parts/states/states.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { dollars, PRICED } from '../../parts/text/text.tsx'
import { Ago, ago, duration } from '../../parts/time/time.tsx'
import { useLive } from '../../shell/live.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { RunRows } from './run-rows.tsx'
import { Versions } from './versions.tsx'
import styles from './evaluation.module.css'
import { Table } from '../../parts/table/table.tsx'
import { Button } from '../../parts/button/button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'

/** How often the progress is fetched, in milliseconds. */
const PULSE = 1000

/** One evaluation: progress, summary, rows. */
export function RunPage({ id }: { readonly id: string }) {
  const { tab } = useAddress()
  const { data, error, refetch } = useRoute(
    'GET /evaluations/{id}',
    { path: { id } },
    { refetchInterval: (answer) => (!answer || answer.evaluation.state === 'running') && PULSE },
  )
  useLive((event) => {
    if (event === undefined || event.references['evaluation']?.id === id) void refetch()
  })
  const run = data?.evaluation
  return (
    <Page
      crumbs={[
        { label: 'Evaluations', to: places.evaluations() },
        { label: run ? titleOf(run) : 'Evaluation' },
      ]}
      wide
      about={run && <About run={run} />}
      actions={run && <RunActions run={run} />}
    >
      {error && <Failure error={error} retry={refetch} />}
      {run ? (
        <>
          <RunFacts run={run} />
          <RunProgress run={run} />
          <Ending run={run} />
          <RunSummary run={run} />
          <LinkTabs
            label="Views of the evaluation"
            tabs={[
              {
                label: 'Rows',
                to: places.evaluation(id),
                isHere: tab !== 'versions',
                count: run.summary.done,
              },
              {
                label: 'Over versions',
                to: places.evaluation(id),
                search: { tab: 'versions' },
                isHere: tab === 'versions',
              },
            ]}
          />
          {tab === 'versions' ? <Versions run={run} /> : <RunRows run={run} />}
        </>
      ) : (
        !error && <Skeleton label="Loading the evaluation" lines={10} />
      )}
    </Page>
  )
}

function About({ run }: { readonly run: Evaluation }) {
  const { state, created_at: began, finished_at: ended, created_by: by } = run
  return (
    <>
      <EvaluationState state={state} />
      <span title={by}>{authorName(by)}</span>
      <Ago date={began} />
      {ended !== undefined && <span>took {duration(Date.parse(ended) - Date.parse(began))}</span>}
    </>
  )
}

/** The progress of an unfinished evaluation. */
function RunProgress({ run }: { readonly run: Evaluation }) {
  const { state, rows, summary } = run
  if (state === 'finished') return null
  return (
    <div className={`row-wide ${styles.progress}`}>
      <Progress
        label={state === 'running' ? 'Running' : 'Interrupted'}
        done={summary.done}
        total={rows}
        unit="rows"
      />
      <p className="muted">
        {state === 'running'
          ? 'It keeps running when you leave this page.'
          : 'Resume it to run the remaining rows; finished rows are not run again.'}
      </p>
    </div>
  )
}

/** Tells screen readers that the evaluation ended while the page was open. */
function Ending({ run }: { readonly run: Evaluation }) {
  const { state } = run
  const before = useRef(state)
  const [said, say] = useState('')
  useEffect(() => {
    if (state === 'running') say('')
    else if (before.current !== state) say(endOf(run))
    before.current = state
    // Only a change of the state is an end; the counts are final by then.
  }, [state])
  return (
    <p role="status" className="visually-hidden">
      {said}
    </p>
  )
}

function endOf({ state, rows, evaluators, summary }: Evaluation): string {
  if (state === 'interrupted')
    return `The evaluation was stopped after ${summary.done.toLocaleString()} of ${rows.toLocaleString()} rows.`
  const passed = evaluators.map(
    ({ name, version }) =>
      `${name} v${version} passed ${(summary.evaluators[name]?.passed ?? 0).toLocaleString()}`,
  )
  return `The evaluation finished: ${[`${summary.done.toLocaleString()} rows`, ...passed].join(', ')}.`
}

/** What the evaluation ran, with versions: all are pinned when it starts. */
function RunFacts({ run }: { readonly run: Evaluation }) {
  const {
    application,
    testset,
    evaluators,
    concurrency,
    outputs_from: source,
    summary,
    testcase_ids: only,
  } = run
  const { duration_ms: took, tokens, costs } = summary.usage ?? {}
  return (
    <dl className={styles.facts}>
      <div>
        <dt>Prompt</dt>
        <dd>
          <Link to={places.artifact(application.artifact_slug)}>{application.artifact_slug}</Link>
          <RevisionChip
            to={places.revision(application.artifact_slug, application.revision_slug)}
            version={application.version}
          />
        </dd>
      </div>
      <div>
        <dt>Testset</dt>
        <dd>
          <Link to={places.testset(testset.artifact_slug)}>{testset.artifact_slug}</Link>
          <span>v{testset.version}</span>
          {only !== undefined && (
            <span className="muted">{only.length === 1 ? 'one row' : `${only.length} rows`} only</span>
          )}
        </dd>
      </div>
      <div>
        <dt>Evaluators</dt>
        <dd>
          {evaluators.map(({ name, artifact_slug: slug, revision_slug: revision, version }) => (
            <span key={name} className="row">
              <Link to={places.artifact(slug)}>{slug}</Link>
              <RevisionChip to={places.revision(slug, revision)} version={version} />
            </span>
          ))}
          {evaluators.length === 0 && <span>no evaluator</span>}
        </dd>
      </div>
      {source !== undefined && (
        <div>
          <dt>Outputs</dt>
          <dd>
            <Link to={places.evaluation(source)}>from an older evaluation</Link>
          </dd>
        </div>
      )}
      {tokens && (
        <div>
          <dt>Tokens</dt>
          <dd title={`${tokens.prompt.toLocaleString()} in, ${tokens.completion.toLocaleString()} out`}>
            {tokens.total.toLocaleString()}
          </dd>
        </div>
      )}
      {costs && (
        <div>
          <dt>Cost</dt>
          <dd title={PRICED}>{dollars(costs.total)}</dd>
        </div>
      )}
      {took !== undefined && (
        <div>
          <dt>Time of all rows</dt>
          <dd>{duration(took)}</dd>
        </div>
      )}
      <div>
        <dt>Rows at once</dt>
        <dd>{concurrency}</dd>
      </div>
    </dl>
  )
}

/** The summary of each evaluator. */
function RunSummary({ run }: { readonly run: Evaluation }) {
  const { evaluators, summary } = run
  const { done, failed: unrun } = summary
  return (
    <section className={styles.summary} aria-label="Summary">
      {unrun > 0 && (
        <p className={`notice ${styles.unrun}`}>
          The prompt failed on {unrun.toLocaleString()} of {done.toLocaleString()} rows. Evaluators skipped{' '}
          {unrun === 1 ? 'it, and it counts' : 'them, and they count'} as not passed.
        </p>
      )}
      {evaluators.length > 0 && (
        <Table
          caption="Results by evaluator"
          columns={[
            { name: 'Evaluator', cell: ({ name, version }) => `${name} v${version}` },
            {
              name: 'Passed',
              number: true,
              cell: ({ passed, success_rate: rate }) => (
                <>
                  {passed.toLocaleString()} of {done.toLocaleString()} <b>{percent(rate)}</b>
                </>
              ),
            },
            { name: 'Failed', number: true, cell: ({ failed }) => failed?.toLocaleString() ?? '–' },
            { name: 'Errors', number: true, cell: ({ errors }) => errors.toLocaleString() },
            { name: 'Skipped', number: true, cell: () => unrun.toLocaleString() },
            {
              name: 'Mean score',
              number: true,
              cell: ({ mean_score: mean, mean_rows: over, scored }) =>
                mean === null ? '–' : `${shownScore(mean)} over ${(over ?? scored).toLocaleString()}`,
            },
          ]}
          rows={evaluators.map(({ name, version }) => ({
            name,
            version,
            ...(summary.evaluators[name] ?? NOTHING),
          }))}
          keyOf={({ name }) => name}
        />
      )}
    </section>
  )
}

const NOTHING = {
  scored: 0,
  passed: 0,
  failed: 0,
  errors: 0,
  mean_score: null,
  mean_rows: 0,
  success_rate: null,
}

const NEWEST_RUNS_OFFERED = 20

/** The actions for an evaluation: stop, resume, run again, compare. */
function RunActions({ run }: { readonly run: Evaluation }) {
  const { id, state, application, testset, evaluators } = run
  const navigate = useNavigate()
  const stop = useWrite('POST /evaluations/{id}/stop')
  const resume = useWrite('POST /evaluations/{id}/resume')
  const { data } = useRoute('POST /evaluations/query', {
    body: {
      evaluation: { application_id: application.artifact_id },
      windowing: { limit: NEWEST_RUNS_OFFERED, order: 'descending' },
    },
  })
  const others = (data?.evaluations ?? []).filter((it) => it.id !== id)
  const again = {
    new: '1',
    prompt: application.artifact_slug,
    testset: testset.artifact_slug,
    evaluators: [...new Set(evaluators.map((it) => it.artifact_slug))].join(),
  }
  const error = stop.error ?? resume.error
  return (
    <>
      {error !== null && <Failure error={error} />}
      {others.length > 0 && (
        <Menu
          label="Compare with"
          items={others.map((other) => ({
            label: describe(other),
            // The older one is on the left.
            to: places.compareEvaluations(...([other.id, id].sort() as [string, string])),
          }))}
        />
      )}
      {state === 'running' && (
        <Button
          kind="primary"
          needs="invoke"
          busy={stop.isPending}
          onClick={() => stop.mutate({ path: { id } })}
        >
          Stop the evaluation
        </Button>
      )}
      {state === 'interrupted' && (
        <Button
          kind="primary"
          needs="invoke"
          busy={resume.isPending}
          onClick={() => resume.mutate({ path: { id }, body: { wait: false } })}
        >
          Resume the evaluation
        </Button>
      )}
      {state === 'finished' && (
        <Button
          kind="primary"
          needs="invoke"
          onClick={() => void navigate({ to: places.evaluations(), search: again as never })}
        >
          Run again …
        </Button>
      )}
    </>
  )
}

function describe({ application, testset, evaluators, summary, created_at: began }: Evaluation): string {
  const rates = evaluators
    .map(({ name, version }) => `${name} v${version} ${percent(summary.evaluators[name]?.success_rate)}`)
    .join(', ')
  const when = ago(Date.parse(began), Date.now())
  return [versionName(application), versionName(testset), rates, when].filter(Boolean).join(' · ')
}
