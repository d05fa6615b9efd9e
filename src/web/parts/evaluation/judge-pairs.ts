import type { Evaluation } from './evaluation-state.tsx'

/** An evaluator as a run has pinned it. */
export type Judge = Evaluation['evaluators'][number]

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
