import { clipped, textOf } from '../../../parts/excerpt/excerpt.ts'
import { outcomeOf } from '../outcome.ts'
import { Link } from '@tanstack/react-router'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { duration } from '../../../parts/time/duration.ts'
import { places } from '../../../shell/places.ts'
import { Verdict } from '../verdict.tsx'
import { InputsCell, OutputCell } from './cells.tsx'
import { expectedOf } from './use-expected.ts'
import type { EvaluatedRow } from './use-rows.ts'
import { VirtualTable } from './virtual-table.tsx'
import styles from './rows.module.css'

export interface RowTableProps {
  readonly run: Evaluation
  readonly rows: readonly EvaluatedRow[]
  readonly expected: readonly string[]
  readonly loadMore: () => void
  /** The testcase of the opened row. */
  readonly opened: string | undefined
  readonly open: (testcaseId: string) => void
  readonly close: () => void
}

/** Rows with outputs beside what was expected; pages are loaded before one gets to their end. */
export function RowTable({ run, rows, expected, loadMore, opened, open, close }: RowTableProps) {
  return (
    <VirtualTable
      label="Rows of the run"
      columns={['Row', 'Output', 'Expected', 'Verdicts', 'Took']}
      number="Took"
      minWidth={640}
      widths="minmax(0, 3fr) minmax(0, 3fr) minmax(0, 2fr) minmax(150px, 2fr) 72px"
      rows={rows}
      lines={Math.max(2, run.evaluators.length)}
      keyOf={({ result }) => result.testcase_id}
      cells={(row) => <Cells run={run} row={row} expected={expected} />}
      loadMore={loadMore}
      opened={opened}
      open={open}
      close={close}
    />
  )
}

interface CellsProps {
  readonly run: Evaluation
  readonly row: EvaluatedRow
  readonly expected: readonly string[]
}

function Cells({ run, row: { result, data, dedupId, took }, expected }: CellsProps) {
  const wanted = expectedOf(data, expected)
  return (
    <>
      <InputsCell data={data} dedupId={dedupId} without={wanted?.column} />
      <OutputCell result={result} />
      <span role="cell" className={styles.clamped} dir="auto">
        {wanted ? clipped(textOf(wanted.value)) : '–'}
      </span>
      <span role="cell" className={styles.verdicts}>
        {run.evaluators.map(({ name }) => (
          <Verdict key={name} name={name} outcome={outcomeOf(result.evaluators[name])} />
        ))}
      </span>
      <span role="cell" className={styles.took}>
        <Link
          to={places.trace(result.trace_id)}
          onClick={(event) => event.stopPropagation()}
          title="Its trace"
        >
          {took === undefined ? 'trace' : duration(took)}
        </Link>
      </span>
    </>
  )
}
