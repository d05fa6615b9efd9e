import type { JudgePair, Evaluation } from '../../../parts/evaluation/evaluation.tsx'
import { useNavigate, useSearch, Link } from '@tanstack/react-router'
import { Empty } from '../../../parts/states/states.tsx'
import { Toggles } from '../../../parts/tabs/tabs.tsx'
import { places } from '../../../shell/places.ts'
import { useExpectedColumns, expectedOf } from '../rows/use-expected.ts'
import { useOpenRow } from '../use-open-row.ts'
import type { ComparedRow } from './join-rows.ts'
import shared from '../rows/rows.module.css'
import { X } from 'lucide-react'
import { useRoute } from '../../../api/use-route.ts'
import { TextDiff } from '../../../parts/diff/lines.tsx'
import { outcomeOf, outputOf, type RowResult } from '../outcome.ts'
import { RowColumns } from '../row-columns.tsx'
import { Value } from '../value.tsx'
import { Verdict } from '../verdict.tsx'
import styles from './compare.module.css'
import { clipped, textOf } from '../../../parts/text/text.tsx'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { call } from '../../../api/call.ts'
import { InputsCell, OutputCell } from '../rows/cells.tsx'
import { VirtualTable } from '../rows/virtual-table.tsx'

export interface CompareRowsProps {
  readonly left: Evaluation
  readonly right: Evaluation
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[]
}

const SHOWN: readonly {
  readonly value: string | undefined
  readonly label: string
  readonly has: (row: ComparedRow) => boolean
}[] = [
  { value: undefined, label: 'All rows', has: () => true },
  { value: 'better', label: 'Better', has: ({ change }) => change === 'better' || change === 'mixed' },
  { value: 'worse', label: 'Worse', has: ({ change }) => change === 'worse' || change === 'mixed' },
  { value: 'changed', label: 'Another output', has: ({ isOutputChanged }) => isOutputChanged },
  {
    value: 'incomparable',
    label: 'Not comparable',
    has: ({ change }) => change === 'not comparable',
  },
  { value: 'alone', label: 'Only in one', has: ({ change }) => change.startsWith('only') },
]

/** The rows of both, narrowed as the address says. */
export function CompareRows({ left, right, judges, rows }: CompareRowsProps) {
  const { show } = useSearch({ strict: false }) as { readonly show?: string }
  const navigate = useNavigate()
  const { row: opened, open, close } = useOpenRow()
  const expected = useExpectedColumns(right.evaluators)
  const chosen = SHOWN.find((it) => it.value === show) ?? SHOWN[0]
  const shown = rows.filter((row) => chosen?.has(row))
  const openedRow = rows.find(({ key }) => key === opened)
  return (
    <>
      <div className={shared.filters}>
        <Toggles
          label="Rows shown"
          choices={SHOWN.filter(
            ({ value, has }) => value !== 'incomparable' || value === show || rows.some(has),
          ).map(({ value, label, has }) => ({
            value,
            label: `${label} ${rows.filter(has).length.toLocaleString()}`,
          }))}
          value={chosen?.value}
          onChange={(value) =>
            void navigate({
              to: places.compareEvaluations(left.id, right.id),
              search: { show: value } as never,
            })
          }
        />
      </div>
      {shown.length === 0 ? (
        <Empty>No row is like this.</Empty>
      ) : (
        <div className={openedRow ? shared.beside : undefined}>
          <CompareTable
            key={show}
            judges={judges}
            rows={shown}
            expected={expected}
            opened={opened}
            open={open}
            close={close}
          />
          {openedRow && <ComparePanel row={openedRow} judges={judges} expected={expected} close={close} />}
        </div>
      )}
    </>
  )
}

interface ComparePanelProps {
  readonly row: ComparedRow
  readonly judges: readonly JudgePair[]
  readonly expected: readonly string[]
  readonly close: () => void
}

/** Everything about one row of two runs. */
function ComparePanel({ row, judges, expected, close }: ComparePanelProps) {
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

interface CompareTableProps {
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[]
  readonly expected: readonly string[]
  readonly opened: string | undefined
  readonly open: (key: string) => void
  readonly close: () => void
}

const ROWS_READ_AT_ONCE = 200

/** Rows of two runs with both outputs and both verdicts. */
function CompareTable({ judges, rows, expected, opened, open, close }: CompareTableProps) {
  const [wanted, setWanted] = useState(ROWS_READ_AT_ONCE)
  const near = rows.slice(0, wanted)
  const dataOf = useData(near)
  return (
    <VirtualTable
      label="Rows of both runs"
      columns={['Row', 'Expected', 'Left', 'Right', 'Change', 'Verdict left', 'Verdict right']}
      minWidth={960}
      widths="minmax(0, 3fr) minmax(0, 2fr) minmax(0, 3fr) minmax(0, 3fr) 124px minmax(104px, 1.4fr) minmax(104px, 1.4fr)"
      rows={near}
      lines={Math.max(2, judges.length)}
      keyOf={({ key }) => key}
      cells={(row) => (
        <Cells
          row={row}
          judges={judges}
          expected={expected}
          data={dataOf.get(idOf(row))}
          isRead={dataOf.size > 0}
        />
      )}
      loadMore={() =>
        setWanted((before) => Math.min(rows.length, Math.max(before, near.length + ROWS_READ_AT_ONCE)))
      }
      opened={opened}
      open={open}
      close={close}
    />
  )
}

interface CellsProps {
  readonly row: ComparedRow
  readonly judges: readonly JudgePair[]
  readonly expected: readonly string[]
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** Whether it is known which rows there are. */
  readonly isRead: boolean
}

function Cells({ row, judges, expected, data, isRead }: CellsProps) {
  const { testcase_dedup_id: dedupId, ...columns } = data ?? {}
  const wanted = expectedOf(data, expected)
  return (
    <>
      <InputsCell
        data={data || !isRead ? columns : undefined}
        dedupId={textOf(dedupId ?? '')}
        without={wanted?.column}
      />
      <span role="cell" className={shared.clamped} dir="auto">
        {wanted ? clipped(textOf(wanted.value)) : '–'}
      </span>
      <OutputCell result={row.left} />
      <OutputCell result={row.right} />
      <span role="cell">
        <Change row={row} />
      </span>
      <Verdicts of={row.left} names={judges.map(({ left }) => left.name)} />
      <Verdicts of={row.right} names={judges.map(({ right }) => right.name)} />
    </>
  )
}

function Verdicts({ of, names }: { readonly of: RowResult | undefined; readonly names: readonly string[] }) {
  return (
    <span role="cell" className={shared.verdicts}>
      {of ? names.map((name) => <Verdict key={name} outcome={outcomeOf(of.evaluators[name])} />) : '–'}
    </span>
  )
}

function idOf({ left, right }: ComparedRow): string {
  return (right ?? left)?.testcase_id ?? ''
}

/** What the rows are, by testcase. */
function useData(rows: readonly ComparedRow[]): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
  const ids = rows.map(idOf)
  const { data } = useQuery({
    queryKey: ['compared rows', ids[0], ids.at(-1), ids.length],
    queryFn: ({ signal }) => call('POST /testcases/query', { body: { testcase_ids: ids } }, signal),
    placeholderData: (before) => before,
    enabled: ids.length > 0,
    staleTime: Infinity,
  })
  return useMemo(() => new Map((data?.testcases ?? []).map((it) => [it.id, it.data])), [data])
}

const SIGNS: Readonly<Record<ComparedRow['change'], readonly [sign: string, word: string]>> = {
  better: ['▲', 'better'],
  worse: ['▼', 'worse'],
  mixed: ['◆', 'both'],
  same: ['=', 'same'],
  'not comparable': ['≠', 'not comparable'],
  'only left': ['◁', 'only left'],
  'only right': ['▷', 'only right'],
}

/** How a row ended at the right, beside the left: a sign and a word. */
function Change({ row: { change, isOutputChanged } }: { readonly row: ComparedRow }) {
  const [sign, word] = SIGNS[change]
  return (
    <span className={styles.change} data-change={change}>
      <b>
        <span aria-hidden>{sign}</span> {word}
      </b>
      {isOutputChanged && (change === 'same' || change === 'not comparable') && (
        <span className={styles.muted}>other words</span>
      )}
    </span>
  )
}
