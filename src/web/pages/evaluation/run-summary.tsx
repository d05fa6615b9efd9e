import type { Evaluation } from '../../parts/evaluation/evaluation-state.tsx'
import { percent, shownScore } from '../../parts/evaluation/shown-numbers.ts'
import { Table } from '../../parts/table/table.tsx'
import styles from './evaluation.module.css'

/** What each evaluator made of all rows that are done. */
export function RunSummary({ run }: { readonly run: Evaluation }) {
  const { evaluators, summary } = run
  const { done, failed: unrun } = summary
  return (
    <section className={styles.summary} aria-label="Summary">
      {unrun > 0 && (
        <p className={styles.unrun}>
          The prompt failed on {unrun.toLocaleString()} of {done.toLocaleString()} rows; no evaluator ran on{' '}
          {unrun === 1 ? 'it' : 'them'}, and {unrun === 1 ? 'it counts' : 'they count'} as not passed.
        </p>
      )}
      {evaluators.length > 0 && (
        <Table
          caption="Summary by evaluator"
          columns={[
            { name: 'Evaluator', cell: ({ name, version }) => `${name} v${version}` },
            {
              name: 'Passed',
              number: true,
              cell: ({ passed, success_rate: rate }) => (
                <>
                  {passed.toLocaleString()} of {done.toLocaleString()} <b>{percent(rate)}</b>
                </>
              ),
            },
            { name: 'Failed', number: true, cell: ({ failed }) => failed?.toLocaleString() ?? '–' },
            { name: 'Errors', number: true, cell: ({ errors }) => errors.toLocaleString() },
            { name: 'Not run', number: true, cell: () => unrun.toLocaleString() },
            {
              name: 'Mean score',
              number: true,
              cell: ({ mean_score: mean, mean_rows: over, scored }) =>
                mean === null ? '–' : `${shownScore(mean)} over ${(over ?? scored).toLocaleString()}`,
            },
          ]}
          rows={evaluators.map(({ name, version }) => ({
            name,
            version,
            ...(summary.evaluators[name] ?? NOTHING),
          }))}
          keyOf={({ name }) => name}
        />
      )}
    </section>
  )
}

const NOTHING = {
  scored: 0,
  passed: 0,
  failed: 0,
  errors: 0,
  mean_score: null,
  mean_rows: 0,
  success_rate: null,
}
