import { useEffect, useState } from 'react'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import type { Evaluation } from '../../parts/evaluation/evaluation.tsx'
import { Failure, Progress } from '../../parts/states/states.tsx'

export interface JudgeAgainProps {
  /** The evaluation whose outputs are judged. */
  readonly older: Evaluation
  /** The evaluation whose evaluators judge them. */
  readonly newer: Evaluation
  /** Called with the id of the new evaluation when it is finished. */
  readonly done: (id: string) => void
}

/** How often the progress is fetched, in milliseconds. */
const PULSE = 500

/** Judges the stored outputs of an evaluation with the evaluators of a later one, so that both can be compared. The prompt is not run. */
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
    // An interrupted one is shown, too: it can be resumed on its page.
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
