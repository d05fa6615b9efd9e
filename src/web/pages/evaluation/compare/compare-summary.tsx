import type { JudgePair } from '../../../parts/evaluation/judge-pairs.ts'
import { Link, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { JudgeAgain } from '../judge-again.tsx'
import { type Evaluation, EvaluationState } from '../../../parts/evaluation/evaluation-state.tsx'
import { percent, shownScore } from '../../../parts/evaluation/shown-numbers.ts'
import { Table } from '../../../parts/table/table.tsx'
import { Ago } from '../../../parts/time/ago.tsx'
import { places } from '../../../shell/places.ts'
import type { ComparedRow } from './join-rows.ts'
import styles from './compare.module.css'

export interface CompareSummaryProps {
  readonly left: Evaluation
  readonly right: Evaluation
  /** The evaluators that both have. */
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[] | undefined
}

/** What the two runs are, and what each came to. */
export function CompareSummary({ left, right, judges, rows }: CompareSummaryProps) {
  const of = (run: Evaluation, name: string) => run.summary.evaluators[name]
  const count = (change: ComparedRow['change']): number =>
    rows?.filter((row) => row.change === change).length ?? 0
  return (
    <section className={styles.summary} aria-label="Summary">
      <div className={styles.ends}>
        <End name="Left" run={left} />
        <End name="Right" run={right} />
      </div>
      {judges.length > 0 ? (
        <Table
          caption="Both runs by evaluator"
          columns={[
            { name: 'Evaluator', cell: ({ name }) => name },
            {
              name: 'Judged by',
              cell: ({ left: before, right: after, isComparable }) =>
                isComparable ? (
                  `v${before.version}`
                ) : (
                  <>
                    v{before.version} and v{after.version}: <b>not comparable</b>
                  </>
                ),
            },
            {
              name: 'Left passed',
              number: true,
              cell: ({ left: judge }) => percent(of(left, judge.name)?.success_rate),
            },
            {
              name: 'Right passed',
              number: true,
              cell: ({ right: judge }) => percent(of(right, judge.name)?.success_rate),
            },
            {
              name: 'Left mean score',
              number: true,
              cell: ({ left: judge }) => shownScore(of(left, judge.name)?.mean_score),
            },
            {
              name: 'Right mean score',
              number: true,
              cell: ({ right: judge }) => shownScore(of(right, judge.name)?.mean_score),
            },
          ]}
          rows={judges}
          keyOf={({ left: judge }) => judge.revision_id}
        />
      ) : (
        <p className={styles.muted}>No evaluator took part in both runs, so no row is better or worse.</p>
      )}
      <Incomparable left={left} right={right} judges={judges} />
      {rows && (
        <p role="status">
          {[
            `Better at the right: ${count('better').toLocaleString()}`,
            `worse: ${count('worse').toLocaleString()}`,
            `better by one evaluator and worse by another: ${count('mixed').toLocaleString()}`,
            ...(count('not comparable') === 0
              ? []
              : [`not comparable: ${count('not comparable').toLocaleString()}`]),
            `another output: ${rows.filter((row) => row.isOutputChanged).length.toLocaleString()} of ${rows.length.toLocaleString()}`,
          ].join(' · ')}
        </p>
      )}
    </section>
  )
}

/** Says where the evaluator changed between the runs, and offers to have one revision judge both. */
function Incomparable({ left, right, judges }: Omit<CompareSummaryProps, 'rows'>) {
  const navigate = useNavigate()
  const changed = judges.filter(({ isComparable }) => !isComparable)
  const isLeftOlder = Date.parse(left.created_at) <= Date.parse(right.created_at)
  const done = useCallback(
    (id: string) =>
      void navigate({
        to: isLeftOlder ? places.compareEvaluations(id, right.id) : places.compareEvaluations(left.id, id),
      }),
    [navigate, isLeftOlder, left.id, right.id],
  )
  if (changed.length === 0) return null
  return (
    <div className={styles.incomparable}>
      <p>
        {changed
          .map(
            ({ name, left: before, right: after }) =>
              `${name} judged the left run as v${before.version} and the right run as v${after.version}`,
          )
          .join('; ')}
        . A difference may come from the evaluator and not from the prompt, so{' '}
        {changed.length === 1 ? 'it gives' : 'they give'} no verdict here.
      </p>
      <JudgeAgain older={isLeftOlder ? left : right} newer={isLeftOlder ? right : left} done={done} />
    </div>
  )
}

function End({ name, run }: { readonly name: string; readonly run: Evaluation }) {
  const { id, application, testset, state, created_at: began } = run
  return (
    <div>
      <h2>{name}</h2>
      <p>
        <Link to={places.evaluation(id)}>
          <b>{application.revision_slug}</b> with {testset.revision_slug}
        </Link>
      </p>
      <p className={styles.when}>
        <EvaluationState state={state} /> <Ago date={began} />
      </p>
    </div>
  )
}
