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

/** What an evaluation ran on what: `capitals v2 on countries v1`. */
export function titleOf({ application, testset }: Evaluation): string {
  return `${versionName(application)} on ${versionName(testset)}`
}

/** `capitals v2`; `capitals/warm v2` of another variant than the default one. */
export function versionName({ artifact_slug: slug, revision_slug: revision, version }: Pinned): string {
  const variant = variantOf({ revision_slug: revision, version })
  return `${variant === slug ? slug : `${slug}/${variant}`} v${version}`
}

type Pinned = Pick<Judge, 'artifact_slug' | 'revision_slug' | 'version'>

/** The variant of a pinned version. */
export function variantOf({
  revision_slug: slug,
  version,
}: Pick<Pinned, 'revision_slug' | 'version'>): string {
  return slug.endsWith(`-${version}`) ? slug.slice(0, -`-${version}`.length) : slug
}

/** Short names of two evaluations, by what differs: `v6` and `v8`; of the same version `earlier` and `later`. */
export function endNames(left: Evaluation, right: Evaluation): readonly [left: string, right: string] {
  const [base, head] = [left.application, right.application]
  if (base.revision_id === head.revision_id) {
    return left.created_at <= right.created_at
      ? [`v${base.version} earlier`, `v${base.version} later`]
      : [`v${base.version} later`, `v${base.version} earlier`]
  }
  if (base.artifact_id === head.artifact_id && variantOf(base) === variantOf(head))
    return [`v${base.version}`, `v${head.version}`]
  return [versionName(base), versionName(head)]
}

/** What differs between two evaluations besides the prompt's version, a sentence each; scores may differ for these reasons, too. */
export function differences(left: Evaluation, right: Evaluation): readonly string[] {
  const [base, head] = endNames(left, right)
  const only = (of: Evaluation, other: Evaluation): readonly string[] =>
    of.evaluators
      .filter((it) => !other.evaluators.some((by) => by.artifact_id === it.artifact_id))
      .map(({ name, version }) => `${name} v${version}`)
  const alone = [
    [base, only(left, right)],
    [head, only(right, left)],
  ] as const
  return [
    ...(left.testset.revision_id === right.testset.revision_id
      ? []
      : [`Testset: ${base} ran on ${versionName(left.testset)}, ${head} on ${versionName(right.testset)}.`]),
    ...judgePairs(left, right).flatMap(({ name, left: before, right: after, isComparable }) =>
      isComparable
        ? []
        : [`Evaluator: ${name} v${before.version} judged ${base}, ${name} v${after.version} judged ${head}.`],
    ),
    ...alone.flatMap(([name, judges]) =>
      judges.length === 0 ? [] : [`Only ${name} was judged by ${judges.join(', ')}.`],
    ),
  ]
}

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
