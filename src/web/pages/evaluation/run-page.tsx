import { useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { type Evaluation, EvaluationState } from '../../parts/evaluation/evaluation-state.tsx'
import { Page } from '../../parts/page/page.tsx'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { duration } from '../../parts/time/duration.ts'
import { useLive } from '../../shell/live.ts'
import { places } from '../../shell/places.ts'
import { RunRows } from './rows/run-rows.tsx'
import { RunActions } from './run-actions.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunProgress } from './run-progress.tsx'
import { RunSummary } from './run-summary.tsx'
import { Versions } from './versions/versions.tsx'

/** How often it is asked how far a run is, in milliseconds. */
const PULSE = 1000

/** One run: how far it is, what it came to, what came of each row. */
export function RunPage({ id }: { readonly id: string }) {
  const { tab } = useSearch({ strict: false }) as { readonly tab?: string }
  const [isMoving, setMoving] = useState(true)
  const { data, error, refetch } = useRoute(
    'GET /evaluations/{id}',
    { path: { id } },
    { refetchInterval: isMoving ? PULSE : false },
  )
  const state = data?.evaluation.state
  useEffect(() => setMoving(state === undefined || state === 'running'), [state])
  useLive((event) => {
    if (event === undefined || event.references['evaluation']?.id === id) void refetch()
  })
  const run = data?.evaluation
  return (
    <Page
      crumbs={[{ label: 'Runs', to: places.evaluations() }, { label: run ? titleOf(run) : 'Run' }]}
      wide
      about={run && <About run={run} />}
      actions={run && <RunActions run={run} />}
    >
      {error && <Failure error={error} retry={refetch} />}
      {run ? (
        <>
          <RunFacts run={run} />
          <RunProgress run={run} />
          <RunSummary run={run} />
          <LinkTabs
            label="Views of the run"
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
        !error && <Skeleton label="Loading the run" lines={10} />
      )}
    </Page>
  )
}

/** What a run is called: what was run, and on what. */
export function titleOf({ application, testset }: Evaluation): string {
  return `${application.revision_slug} with ${testset.revision_slug}`
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
