import type { JudgePair } from '../../../parts/evaluation/judge-pairs.ts'
import { Link } from '@tanstack/react-router'
import { X } from 'lucide-react'
import { useRoute } from '../../../api/use-route.ts'
import { TextDiff } from '../../../parts/diff/text-diff.tsx'
import { places } from '../../../shell/places.ts'
import { outcomeOf, outputOf } from '../outcome.ts'
import { expectedOf } from '../rows/use-expected.ts'
import { RowColumns } from '../row-columns.tsx'
import { Value } from '../value.tsx'
import { Verdict } from '../verdict.tsx'
import { Change } from './change.tsx'
import type { ComparedRow } from './join-rows.ts'
import shared from '../rows/rows.module.css'
import styles from './compare.module.css'

export interface ComparePanelProps {
  readonly row: ComparedRow
  readonly judges: readonly JudgePair[]
  readonly expected: readonly string[]
  readonly close: () => void
}

/** Everything about one row of two runs. */
export function ComparePanel({ row, judges, expected, close }: ComparePanelProps) {
  const { left, right } = row
  const id = (right ?? left)?.testcase_id ?? ''
  const { data } = useRoute('POST /testcases/query', { body: { testcase_ids: [id] } }, { immutable: true })
  const { testcase_dedup_id: dedupId, ...columns } = data?.testcases[0]?.data ?? {}
  const wanted = expectedOf(columns, expected)
  return (
    <aside className={shared.panel} aria-label="The opened row">
      <header>
        <h2>
          Row {typeof dedupId === 'string' ? <code>{dedupId}</code> : ''} <Change row={row} />
        </h2>
        <button type="button" onClick={close} aria-label="Close the row">
          <X size={16} aria-hidden />
        </button>
      </header>
      <nav aria-label="Of this row">
        {left && <Link to={places.trace(left.trace_id)}>Trace at the left</Link>}
        {right && <Link to={places.trace(right.trace_id)}>Trace at the right</Link>}
      </nav>
      <section>
        <h3>Inputs</h3>
        <RowColumns data={columns} without={wanted?.column} />
      </section>
      {wanted && (
        <section>
          <h3>Expected ({wanted.column})</h3>
          <Value of={{ outputs: wanted.value as never }} />
        </section>
      )}
      {left && (
        <section>
          <h3>Output at the left</h3>
          <Value of={left.application} />
        </section>
      )}
      {right && (
        <section>
          <h3>Output at the right</h3>
          <Value of={right.application} />
        </section>
      )}
      {left && right && row.isOutputChanged && (
        <section>
          <h3>What changed</h3>
          <TextDiff
            label="Outputs at the left and at the right"
            base={outputOf(left)}
            head={outputOf(right)}
            prose
          />
        </section>
      )}
      {judges.map(({ name, left: before, right: after, isComparable }) => (
        <section key={before.revision_id}>
          <h3>{name}</h3>
          <p className={styles.verdicts}>
            <Verdict outcome={outcomeOf(left?.evaluators[before.name])} /> <span aria-hidden>→</span>
            <span className="visually-hidden">, at the right</span>
            <Verdict outcome={outcomeOf(right?.evaluators[after.name])} />
          </p>
          {!isComparable && (
            <p className={styles.muted}>
              Not comparable: judged by v{before.version} at the left and v{after.version} at the right.
            </p>
          )}
        </section>
      ))}
    </aside>
  )
}
