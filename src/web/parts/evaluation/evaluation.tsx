import { CircleCheck, CircleDashed, CirclePause } from 'lucide-react'
import type { Answer } from '../../api/call.ts'
import styles from './evaluation.module.css'

/** An evaluation: a testset, run through a prompt and evaluators. */
export type Evaluation = Answer<'GET /evaluations/{id}'>['evaluation']

const MARKS = { running: CircleDashed, finished: CircleCheck, interrupted: CirclePause } as const

/** The state of an evaluation: an icon and a word. */
export function EvaluationState({ state }: { readonly state: Evaluation['state'] }) {
  const Mark = MARKS[state]
  return (
    <span className={styles[state]}>
      <Mark size={14} aria-hidden />
      {state}
    </span>
  )
}

/** An evaluator, pinned by an evaluation. */
type Judge = Evaluation['evaluators'][number]

/** An evaluator of two evaluations. Verdicts by different revisions of it are not compared. */
export interface JudgePair {
  /** Its name among the others. */
  readonly name: string
  readonly left: Judge
  readonly right: Judge
  readonly isComparable: boolean
}

/** The evaluators of both evaluations: first those with the same revision, then those with another one. */
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

/** A score with three decimals; an en dash if there is none. */
export function shownScore(score: number | null | undefined): string {
  return score === null || score === undefined ? '–' : score.toFixed(3)
}
