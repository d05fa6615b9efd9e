import { useNavigate, Link } from '@tanstack/react-router'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import { Page } from '../../parts/page/page.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { StartEvaluation } from './start-evaluation.tsx'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import styles from './evaluations.module.css'
import { COMMAND } from '../../shell/document.ts'
import { useState } from 'react'
import { usePages, useRoute } from '../../api/use-route.ts'
import {
  type Evaluation,
  EvaluationState,
  judgePairs,
  percent,
  titleOf,
} from '../../parts/evaluation/evaluation.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Table, type Column, useRowKeys } from '../../parts/table/table.tsx'
import { useLive } from '../../shell/live.tsx'
import { authorName, RevisionChip } from '../../parts/chips/chips.tsx'
import { Ago } from '../../parts/time/time.tsx'

const STATES = ['running', 'finished', 'interrupted'] as const

/** All evaluations, newest first, and a form that starts one. */
export default function EvaluationsPage() {
  const search = useAddress()
  const navigate = useNavigate()
  const refusal = useRefusal('invoke')
  const { new: isNew, application } = search
  const state = STATES.find((it) => it === search['state'])
  const open = (): void =>
    void navigate({ to: places.evaluations(), search: { ...search, new: '1', prompt: application } as never })
  const close = (): void => {
    const { state: kept, application: of } = search
    void navigate({ to: places.evaluations(), search: { state: kept, application: of } as never })
  }
  useCommands([{ id: 'new', title: 'Start an evaluation', keys: 'n', refusal, run: open }])
  const to = places.evaluations()
  return (
    <Page
      crumbs={[{ label: 'Evaluations' }]}
      wide
      actions={
        <Button kind="primary" needs="invoke" onClick={open}>
          Start an evaluation
        </Button>
      }
    >
      <LinkTabs
        label="States"
        tabs={[
          { label: 'All', to, search: { application }, isHere: state === undefined },
          ...STATES.map((it) => ({
            label: it[0]?.toUpperCase() + it.slice(1),
            to,
            search: { application, state: it },
            isHere: state === it,
          })),
        ]}
      />
      <div className={styles.filters}>
        <ArtifactPicker
          label="Prompt"
          family="application"
          placeholder="any"
          value={application ?? ''}
          onChange={(slug) => void navigate({ to, search: { state, application: slug } as never })}
        />
      </div>
      <EvaluationList application={application} state={state} start={open} />
      {isNew !== undefined && <StartEvaluation search={search} close={close} />}
    </Page>
  )
}

interface EvaluationListProps {
  /** The slug of the prompt; undefined for any. */
  readonly application: string | undefined
  readonly state: Evaluation['state'] | undefined
  /** Opens the form. */
  readonly start: () => void
}

const PAGE = 50
/** How often the progress is fetched, in milliseconds. */
const PULSE = 1500

/** The evaluations, newest first, refreshed by themselves. Two selected ones can be compared. */
function EvaluationList({ application, state, start }: EvaluationListProps) {
  const artifact = useRoute(
    'GET /workflows/{id}',
    { path: { id: application ?? '' } },
    { enabled: application !== undefined },
  )
  const id = artifact.data?.workflow.id
  const filter = { ...(state ? { state } : {}), ...(id === undefined ? {} : { application_id: id }) }
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /evaluations/query',
    { body: { evaluation: filter, windowing: { limit: PAGE, order: 'descending' } } },
    {
      enabled: application === undefined || id !== undefined,
      refetchInterval: (pages = []) =>
        pages.some(({ evaluations }) => evaluations.some((it) => it.state === 'running')) && PULSE,
    },
  )
  const rows = data?.pages.flatMap(({ evaluations }) => evaluations) ?? []
  useLive((event) => {
    if (event === undefined || event.kind === 'evaluation') void refetch()
  })

  const navigate = useNavigate()
  const at = useRowKeys('evaluation', rows, ({ id: run }) => void navigate({ to: places.evaluation(run) }))
  const [picked, setPicked] = useState<readonly string[]>([])
  const here = rows[at]
  const pick = (one: string): void =>
    setPicked((before) =>
      before.includes(one) ? before.filter((it) => it !== one) : [...before.slice(-1), one],
    )
  const compare = (): void => {
    // The older one is on the left.
    const [left, right] = [...picked].sort()
    if (left !== undefined && right !== undefined)
      void navigate({ to: places.compareEvaluations(left, right) })
  }
  const refusal =
    picked.length === 2 ? undefined : 'Select two evaluations to compare, with their boxes or with Space.'
  useCommands([
    { id: 'pick', title: 'Select the evaluation', keys: 'space', run: () => here && pick(here.id) },
    { id: 'compare', title: 'Compare the two selected evaluations', keys: 'c', refusal, run: compare },
  ])

  const failure = artifact.error ?? error
  if (failure) return <Failure error={failure} retry={refetch} />
  if (!data) return <Skeleton label="Loading the evaluations" lines={10} />
  if (rows.length === 0) {
    return (
      <Empty
        action={
          <Button needs="invoke" onClick={start}>
            Start one
          </Button>
        }
        command={`${COMMAND} evaluate --testset capitals --application support-bot --evaluator exact`}
      >
        {application === undefined && state === undefined
          ? 'An evaluation runs a prompt on every row of a testset and judges the outputs with evaluators.'
          : 'No evaluations match.'}
      </Empty>
    )
  }
  return (
    <>
      <Table
        caption="Evaluations"
        columns={evaluationColumns({ picked, pick, rows })}
        rows={rows}
        keyOf={(row) => row.id}
        isAt={(row) => row === here}
      />
      <div className="row gap-above">
        <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }}>Older evaluations</MoreButton>
        <Button refusal={refusal} onClick={compare}>
          Compare the two selected
        </Button>
      </div>
    </>
  )
}

interface Picking {
  readonly picked: readonly string[]
  readonly pick: (id: string) => void
  /** All listed evaluations, newest first. */
  readonly rows: readonly Evaluation[]
}

/** The columns of the list. */
function evaluationColumns({ picked, pick, rows: all }: Picking): readonly Column<Evaluation>[] {
  return [
    {
      name: 'Evaluation',
      cell: (row) => (
        <span className={styles.run}>
          <input
            type="checkbox"
            checked={picked.includes(row.id)}
            onChange={() => pick(row.id)}
            aria-label={`Select ${titleOf(row)}, ${row.id}`}
          />
          <Link to={places.evaluation(row.id)}>
            <EvaluationState state={row.state} />
          </Link>
        </span>
      ),
    },
    {
      name: 'Prompt',
      cell: ({ application: { artifact_slug: slug, revision_slug: revision, version } }) => (
        <span className={styles.named}>
          <Link to={places.artifact(slug)}>{slug}</Link>
          <RevisionChip to={places.revision(slug, revision)} version={version} />
        </span>
      ),
    },
    {
      name: 'Testset',
      cell: ({ testset: { artifact_slug: slug, version } }) => (
        <span className={styles.named}>
          <Link to={places.testset(slug)}>{slug}</Link>
          <span className="muted">v{version}</span>
        </span>
      ),
    },
    {
      name: 'Rows',
      number: true,
      cell: ({ rows, summary }) =>
        summary.done === rows
          ? rows.toLocaleString()
          : `${summary.done.toLocaleString()} of ${rows.toLocaleString()}`,
    },
    {
      name: 'Prompt failed',
      number: true,
      cell: ({ summary }) => (summary.failed === 0 ? '0' : <b>{summary.failed.toLocaleString()}</b>),
    },
    {
      name: 'Passed',
      cell: (run) => {
        const { evaluators, summary } = run
        const before = judgedBefore(run, all)
        return (
          <ul className={styles.rates}>
            {evaluators.map(({ name, revision_id: id, version }) => (
              <li key={name}>
                <span className="clip">
                  {name} v{version}
                </span>
                <b>{percent(summary.evaluators[name]?.success_rate)}</b>
                {before.has(id) && (
                  <em>not comparable with the previous evaluation, which v{before.get(id)} judged</em>
                )}
              </li>
            ))}
            {evaluators.length === 0 && <li className="muted">no evaluators</li>}
            {run.outputs_from !== undefined && (
              <li className="muted">
                <Link to={places.evaluation(run.outputs_from)}>outputs of an older evaluation</Link>
              </li>
            )}
          </ul>
        )
      },
    },
    { name: 'When', number: true, cell: ({ created_at: date }) => <Ago date={date} /> },
    {
      name: 'By',
      cell: ({ created_by: by }) => (
        <span title={by} className={styles.by}>
          {authorName(by)}
        </span>
      ),
    },
  ]
}

/** The evaluators, by revision, that judged the previous evaluation of the same prompt and testset with another version. */
function judgedBefore(run: Evaluation, all: readonly Evaluation[]): ReadonlyMap<string, number> {
  const before = all
    .slice(all.indexOf(run) + 1)
    .find(
      ({ application, testset }) =>
        application.artifact_id === run.application.artifact_id &&
        testset.artifact_id === run.testset.artifact_id,
    )
  const pairs = before ? judgePairs(before, run) : []
  return new Map(
    pairs.flatMap(({ left, right, isComparable }): [string, number][] =>
      isComparable ? [] : [[right.revision_id, left.version]],
    ),
  )
}
