import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useRoute } from '../../../api/use-route.ts'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { places } from '../../../shell/places.ts'
import { outcomeOf } from '../outcome.ts'
import { RowColumns } from '../row-columns.tsx'
import { Value } from '../value.tsx'
import { Verdict } from '../verdict.tsx'
import { expectedOf } from './use-expected.ts'
import styles from './rows.module.css'

export interface RowPanelProps {
  readonly run: Evaluation
  readonly testcaseId: string
  readonly expected: readonly string[]
  readonly close: () => void
}

/** Everything about one row of a run. It is asked for by itself: the address may open a row that no loaded page has. */
export function RowPanel({ run, testcaseId, expected, close }: RowPanelProps) {
  const results = useRoute('POST /evaluations/{id}/results', {
    path: { id: run.id },
    body: { result: { testcase_ids: [testcaseId] } },
  })
  const testcases = useRoute(
    'POST /testcases/query',
    { body: { testcase_ids: [testcaseId] } },
    { immutable: true },
  )
  const error = results.error ?? testcases.error
  const result = results.data?.results[0]
  const { testcase_dedup_id: dedupId, ...data } = testcases.data?.testcases[0]?.data ?? {}
  const wanted = expectedOf(data, expected)
  return (
    <aside className={styles.panel} aria-label="The opened row">
      <header>
        <h2>Row {typeof dedupId === 'string' ? <code dir="auto">{dedupId}</code> : ''}</h2>
        <button type="button" onClick={close} aria-label="Close the row">
          <X size={16} aria-hidden />
        </button>
      </header>
      {error && <Failure error={error} />}
      {!error && !results.data && <Skeleton label="Loading the row" />}
      {results.data && !result && <p>This run has not run the row (yet).</p>}
      {result && (
        <>
          <nav aria-label="Of this row">
            <Link to={places.trace(result.trace_id)}>Its trace</Link>
            {typeof dedupId === 'string' && (
              <Link to={places.testset(run.testset.artifact_slug)} search={{ row: dedupId } as never}>
                Its history in {run.testset.artifact_slug}
              </Link>
            )}
          </nav>
          <section>
            <h3>Inputs</h3>
            <RowColumns data={data} without={wanted?.column} />
          </section>
          <section>
            <h3>Output</h3>
            <Value of={result.application} />
          </section>
          {wanted && (
            <section>
              <h3>Expected ({wanted.column})</h3>
              <Value of={{ outputs: wanted.value as never }} />
            </section>
          )}
          {run.evaluators.map(({ name }) => (
            <section key={name}>
              <h3>
                {name} <Verdict outcome={outcomeOf(result.evaluators[name])} />
              </h3>
              {result.evaluators[name] && <Value of={result.evaluators[name]} />}
            </section>
          ))}
        </>
      )}
    </aside>
  )
}
