import { CircleCheck, CircleDashed, CirclePause } from 'lucide-react'
import type { Answer } from '../../api/call.ts'
import styles from './evaluation-state.module.css'

/** A run of a testset through a prompt and evaluators. */
export type Evaluation = Answer<'GET /evaluations/{id}'>['evaluation']

const MARKS = { running: CircleDashed, finished: CircleCheck, interrupted: CirclePause } as const

/** Whether a run is under way, done, or waits to be resumed: a sign and a word. */
export function EvaluationState({ state }: { readonly state: Evaluation['state'] }) {
  const Mark = MARKS[state]
  return (
    <span className={styles[state]}>
      <Mark size={14} aria-hidden />
      {state}
    </span>
  )
}
