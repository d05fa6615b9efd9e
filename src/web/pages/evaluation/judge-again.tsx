import { useEffect, useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
import { Failure, Progress } from '../../parts/states/states.tsx'

export interface JudgeAgainProps {
  /** The run whose outputs are judged. */
  readonly older: Evaluation
  /** The run with whose evaluators they are. */
  readonly newer: Evaluation
  /** Told of the id of the run that came of it, once it is done. */
  readonly done: (id: string) => void
}

/** How often it is asked how far it is, in milliseconds. */
const PULSE = 500

/** Has the outputs of a run judged by the evaluators of a later one, so that both can be compared. The prompt is not run. */
export function JudgeAgain({ older, newer, done }: JudgeAgainProps) {
  const judge = useWrite('POST /evaluations/{id}/judge')
  const [id, setId] = useState<string>()
  const { data, error } = useRoute(
    'GET /evaluations/{id}',
    { path: { id: id ?? '' } },
    { enabled: id !== undefined, refetchInterval: PULSE },
  )
  const run = id === undefined ? undefined : data?.evaluation
  const state = run?.state
  useEffect(() => {
    // One that was stopped elsewhere is shown as it is, too: there it can be resumed.
    if (id !== undefined && state !== undefined && state !== 'running') done(id)
  }, [id, state, done])
  const begin = async (): Promise<void> => {
    const { evaluation } = await judge.mutateAsync({
      path: { id: older.id },
      body: { evaluator_revision_refs: newer.evaluators.map((it) => ({ id: it.revision_id })), wait: false },
    })
    setId(evaluation.id)
  }
  const failure = judge.error ?? error
  return (
    <>
      {failure && <Failure error={failure} />}
      {id === undefined ? (
        <Button
          needs="invoke"
          busy={judge.isPending}
          refusal={
            older.state === 'finished'
              ? undefined
              : 'The older evaluation is not finished: resume it, or wait for it.'
          }
          title="Runs the evaluators of the newer evaluation on the stored outputs; the prompt is not run again"
          onClick={() => void begin().catch(() => undefined)}
        >
          Judge the older evaluation again
        </Button>
      ) : (
        <Progress label="Judging" done={run?.summary.done ?? 0} total={older.rows} unit="rows" />
      )}
    </>
  )
}
