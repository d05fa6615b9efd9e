import { Link } from '@tanstack/react-router'
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
  readonly names: readonly string[]
  readonly rows: readonly ComparedRow[] | undefined
}

/** What the two runs are, and what each came to. */
export function CompareSummary({ left, right, names, rows }: CompareSummaryProps) {
  const of = (run: Evaluation, name: string) => run.summary.evaluators[name]
  const count = (change: ComparedRow['change']): number =>
    rows?.filter((row) => row.change === change).length ?? 0
  return (
    <section className={styles.summary} aria-label="Summary">
      <div className={styles.ends}>
        <End name="Left" run={left} />
        <End name="Right" run={right} />
      </div>
      {names.length > 0 ? (
        <Table
          caption="Both runs by evaluator"
          columns={[
            { name: 'Evaluator', cell: (name) => name },
            { name: 'Left passed', number: true, cell: (name) => percent(of(left, name)?.success_rate) },
            { name: 'Right passed', number: true, cell: (name) => percent(of(right, name)?.success_rate) },
            { name: 'Left mean score', number: true, cell: (name) => shownScore(of(left, name)?.mean_score) },
            {
              name: 'Right mean score',
              number: true,
              cell: (name) => shownScore(of(right, name)?.mean_score),
            },
          ]}
          rows={names}
          keyOf={(name) => name}
        />
      ) : (
        <p className={styles.muted}>No evaluator took part in both runs, so no row is better or worse.</p>
      )}
      {rows && (
        <p role="status">
          {[
            `Better at the right: ${count('better').toLocaleString()}`,
            `worse: ${count('worse').toLocaleString()}`,
            `better by one evaluator and worse by another: ${count('mixed').toLocaleString()}`,
            `another output: ${rows.filter((row) => row.isOutputChanged).length.toLocaleString()} of ${rows.length.toLocaleString()}`,
          ].join(' · ')}
        </p>
      )}
    </section>
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
