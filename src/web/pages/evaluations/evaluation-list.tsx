import { COMMAND } from '../../api/command-name.ts'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import type { Evaluation } from '../../parts/evaluation/evaluation-state.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { useRowKeys } from '../../parts/table/use-row-keys.ts'
import { useCommands } from '../../shell/commands.tsx'
import { useLive } from '../../shell/live.ts'
import { places } from '../../shell/places.ts'
import { evaluationColumns } from './evaluation-columns.tsx'
import styles from './evaluations.module.css'

export interface EvaluationListProps {
  /** Slug of the prompt that was run; undefined for any. */
  readonly application: string | undefined
  readonly state: Evaluation['state'] | undefined
  /** Opens the form that starts one. */
  readonly start: () => void
}

const PAGE = 50
/** How often it is asked how far those are that run, in milliseconds. */
const PULSE = 1500

/** The runs, the newest first, kept up to date by itself. Two that are picked are compared. */
export function EvaluationList({ application, state, start }: EvaluationListProps) {
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
    { enabled: application === undefined || id !== undefined },
  )
  const rows = data?.pages.flatMap(({ evaluations }) => evaluations) ?? []
  const isMoving = rows.some((row) => row.state === 'running')
  useEffect(() => {
    if (!isMoving) return undefined
    const timer = setInterval(() => void refetch(), PULSE)
    return () => clearInterval(timer)
  }, [isMoving, refetch])
  useLive((event) => {
    if (event === undefined || event.kind === 'evaluation') void refetch()
  })

  const navigate = useNavigate()
  const at = useRowKeys('run', rows, ({ id: run }) => void navigate({ to: places.evaluation(run) }))
  const [picked, setPicked] = useState<readonly string[]>([])
  const here = rows[at]
  const pick = (one: string): void =>
    setPicked((before) =>
      before.includes(one) ? before.filter((it) => it !== one) : [...before.slice(-1), one],
    )
  const compare = (): void => {
    // The older one is at the left.
    const [left, right] = [...picked].sort()
    if (left !== undefined && right !== undefined)
      void navigate({ to: places.compareEvaluations(left, right) })
  }
  const refusal =
    picked.length === 2 ? undefined : 'Pick two runs to compare, with their boxes or with Space.'
  useCommands([
    { id: 'pick', title: 'Pick the run', keys: 'space', run: () => here && pick(here.id) },
    { id: 'compare', title: 'Compare the two picked runs', keys: 'c', refusal, run: compare },
  ])

  const failure = artifact.error ?? error
  if (failure) return <Failure error={failure} retry={refetch} />
  if (!data) return <Skeleton label="Loading the runs" lines={10} />
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
          ? 'A run puts every row of a testset through a prompt, and what comes out through evaluators.'
          : 'No run is like this.'}
      </Empty>
    )
  }
  return (
    <>
      <Table
        caption="Runs"
        columns={evaluationColumns({ picked, pick, rows })}
        rows={rows}
        keyOf={(row) => row.id}
        isAt={(row) => row === here}
      />
      <div className={styles.below}>
        {hasNextPage && (
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older runs
          </Button>
        )}
        <Button refusal={refusal} onClick={compare}>
          Compare the two picked
        </Button>
      </div>
    </>
  )
}
