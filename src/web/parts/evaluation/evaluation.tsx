import { CircleCheck, CircleDashed, CirclePause } from 'lucide-react'
import type { Answer } from '../../api/call.ts'
import styles from './evaluation.module.css'

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

/** An evaluator as a run has pinned it. */
type Judge = Evaluation['evaluators'][number]

/** An evaluator that took part in two runs. Verdicts of two of its revisions say nothing about what was judged, so they are not compared. */
export interface JudgePair {
  /** What it is called beside the others. */
  readonly name: string
  readonly left: Judge
  readonly right: Judge
  readonly isComparable: boolean
}

/** The evaluators that both runs have: those of the same revision first, then those that another revision judged with. */
export function judgePairs(left: Evaluation, right: Evaluation): readonly JudgePair[] {
  const rest = [...right.evaluators]
  const take = (is: (judge: Judge) => boolean): Judge | undefined => {
    const at = rest.findIndex(is)
    return at < 0 ? undefined : rest.splice(at, 1)[0]
  }
  const same = left.evaluators.map((judge) => take((it) => it.revision_id === judge.revision_id))
  return left.evaluators.flatMap((judge, at): JudgePair[] => {
    const partner = same[at] ?? take((it) => it.artifact_id === judge.artifact_id)
    if (!partner) return []
    return [{ name: judge.name, left: judge, right: partner, isComparable: same[at] !== undefined }]
  })
}

/** `66.7 %` of 0.667; an en dash where there is no rate. */
export function percent(rate: number | null | undefined): string {
  return rate === null || rate === undefined ? '–' : `${(100 * rate).toFixed(1)} %`
}

/** A score with three digits behind the point; an en dash where there is none. */
export function shownScore(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : score.toFixed(3)
}
