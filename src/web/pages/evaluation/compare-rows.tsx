import { useQuery } from '@tanstack/react-query'
import { useNavigate, Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { call } from '../../api/call.ts'
import { useRoute } from '../../api/use-route.ts'
import { TextDiff } from '../../parts/diff/lines.tsx'
import { endNames, type Evaluation, type JudgePair } from '../../parts/evaluation/evaluation.tsx'
import { Empty } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { clipped, textOf } from '../../parts/text/text.tsx'
import { Values } from '../../parts/values/values.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { outcomeOf, outputOf, type RowResult, Value, Verdict, type Outcome, rankOf } from './outcome.tsx'
import {
  useExpectedColumns,
  expectedOf,
  useOpenRow,
  InputsCell,
  OutputCell,
  VirtualTable,
  OpenedRow,
} from './row-table.tsx'
import styles from './compare.module.css'
import shared from './rows.module.css'

interface CompareRowsProps {
  readonly left: Evaluation
  readonly right: Evaluation
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[]
}

/** The names of the two evaluations. */
type EndNames = ReturnType<typeof endNames>

const SHOWN: readonly {
  readonly value: string | undefined
  readonly label: string
  readonly has: (row: ComparedRow) => boolean
}[] = [
  { value: undefined, label: 'All rows', has: () => true },
  { value: 'better', label: 'Better', has: ({ change }) => change === 'better' || change === 'mixed' },
  { value: 'worse', label: 'Worse', has: ({ change }) => change === 'worse' || change === 'mixed' },
  { value: 'changed', label: 'Different output', has: ({ isOutputChanged }) => isOutputChanged },
  {
    value: 'incomparable',
    label: 'Not comparable',
    has: ({ change }) => change === 'not comparable',
  },
  { value: 'alone', label: 'Only in one', has: ({ change }) => change.startsWith('only') },
]

/** The rows of both evaluations, filtered by the address. */
export function CompareRows({ left, right, judges, rows }: CompareRowsProps) {
  const { show } = useAddress()
  const navigate = useNavigate()
  const { row: opened, open, close } = useOpenRow()
  const expected = useExpectedColumns(right.evaluators)
  const names = endNames(left, right)
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
        <Empty>No rows match.</Empty>
      ) : (
        <div className={openedRow ? shared.beside : undefined}>
          <CompareTable
            key={show}
            names={names}
            judges={judges}
            rows={shown}
            expected={expected}
            opened={opened}
            open={open}
            close={close}
          />
          {openedRow && (
            <ComparePanel row={openedRow} names={names} judges={judges} expected={expected} close={close} />
          )}
        </div>
      )}
    </>
  )
}

interface ComparePanelProps {
  readonly names: EndNames
  readonly row: ComparedRow
  readonly judges: readonly JudgePair[]
  readonly expected: readonly string[]
  readonly close: () => void
}

/** All about one row of two evaluations. */
function ComparePanel({ row, names: [base, head], judges, expected, close }: ComparePanelProps) {
  const { left, right } = row
  const id = (right ?? left)?.testcase_id ?? ''
  const { data } = useRoute('POST /testcases/query', { body: { testcase_ids: [id] } }, { immutable: true })
  const { testcase_dedup_id: dedupId, ...columns } = data?.testcases[0]?.data ?? {}
  const wanted = expectedOf(columns, expected)
  return (
    <OpenedRow
      title={
        <>
          {typeof dedupId === 'string' && <code>{dedupId}</code>} <Change row={row} />
        </>
      }
      close={close}
    >
      <nav aria-label="Of this row">
        {left && <Link to={places.trace(left.trace_id)}>Trace of {base}</Link>}
        {right && <Link to={places.trace(right.trace_id)}>Trace of {head}</Link>}
      </nav>
      <section>
        <h3>Inputs</h3>
        <Values data={columns} without={wanted?.column} />
      </section>
      {wanted && (
        <section>
          <h3>Expected ({wanted.column})</h3>
          <Value of={{ outputs: wanted.value as never }} />
        </section>
      )}
      {left && (
        <section>
          <h3>Output of {base}</h3>
          <Value of={left.application} />
        </section>
      )}
      {right && (
        <section>
          <h3>Output of {head}</h3>
          <Value of={right.application} />
        </section>
      )}
      {left && right && row.isOutputChanged && (
        <section>
          <h3>What changed</h3>
          <TextDiff
            label={`Outputs of ${base} and ${head}`}
            base={outputOf(left)}
            head={outputOf(right)}
            prose
          />
        </section>
      )}
      {judges.map(({ name, left: before, right: after, isComparable }) => (
        <section key={before.revision_id}>
          <h3>{name}</h3>
          <p className="row">
            <Verdict outcome={outcomeOf(left?.evaluators[before.name])} /> <span aria-hidden>→</span>
            <span className="visually-hidden">, {head}:</span>
            <Verdict outcome={outcomeOf(right?.evaluators[after.name])} />
          </p>
          {!isComparable && (
            <p className="muted">
              Not comparable: v{before.version} of the evaluator judged {base}, v{after.version} judged {head}
              .
            </p>
          )}
        </section>
      ))}
    </OpenedRow>
  )
}

interface CompareTableProps {
  readonly names: EndNames
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[]
  readonly expected: readonly string[]
  readonly opened: string | undefined
  readonly open: (key: string) => void
  readonly close: () => void
}

const ROWS_READ_AT_ONCE = 200

/** The rows of two evaluations with both outputs and both verdicts. */
function CompareTable({ names, judges, rows, expected, opened, open, close }: CompareTableProps) {
  const [wanted, setWanted] = useState(ROWS_READ_AT_ONCE)
  const near = rows.slice(0, wanted)
  const dataOf = useData(near)
  return (
    <VirtualTable
      label="Rows of both evaluations"
      columns={['Row', 'Expected', ...names, 'Change', ...names.map((name) => `Results of ${name}`)]}
      minWidth={960}
      widths="minmax(0, 3fr) minmax(0, 2fr) minmax(0, 3fr) minmax(0, 3fr) 124px minmax(104px, 1.4fr) minmax(104px, 1.4fr)"
      rows={near}
      lines={Math.max(2, judges.length)}
      keyOf={({ key }) => key}
      cells={(row) => (
        <ComparedCells
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

interface ComparedCellsProps {
  readonly row: ComparedRow
  readonly judges: readonly JudgePair[]
  readonly expected: readonly string[]
  readonly data: Readonly<Record<string, unknown>> | undefined
  /** Whether the rows have been loaded. */
  readonly isRead: boolean
}

function ComparedCells({ row, judges, expected, data, isRead }: ComparedCellsProps) {
  const { testcase_dedup_id: dedupId, ...columns } = data ?? {}
  const wanted = expectedOf(data, expected)
  return (
    <>
      <InputsCell
        data={data || !isRead ? columns : undefined}
        dedupId={textOf(dedupId ?? '')}
        without={wanted?.column}
      />
      <span role="cell" className="two-lines" dir="auto">
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

/** The data of the rows, by testcase. */
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
  'only left': ['◁', 'only in one'],
  'only right': ['▷', 'only in one'],
}

/** How the right result compares with the left one: a sign and a word. */
function Change({ row: { change, isOutputChanged } }: { readonly row: ComparedRow }) {
  const [sign, word] = SIGNS[change]
  return (
    <span className={styles.change} data-change={change}>
      <b>
        <span aria-hidden>{sign}</span> {word}
      </b>
      {isOutputChanged && (change === 'same' || change === 'not comparable') && (
        <span className="muted">different output</span>
      )}
    </span>
  )
}

/**
 * A row of two evaluations. `mixed`: better by one evaluator and worse by another; `not comparable`: every evaluator judged them by two revisions.
 */
export interface ComparedRow {
  readonly key: string
  readonly left: RowResult | undefined
  readonly right: RowResult | undefined
  readonly change: 'better' | 'worse' | 'mixed' | 'same' | 'not comparable' | 'only left' | 'only right'
  readonly isOutputChanged: boolean
}

/**
 * Joins the rows of two evaluations by testcase, and edited rows by dedup id. `dedupIdOf` has the dedup ids of testcases that only one evaluation
 * has.
 */
export function joinRows(
  left: readonly RowResult[],
  right: readonly RowResult[],
  judges: readonly JudgePair[],
  dedupIdOf: ReadonlyMap<string, string>,
): readonly ComparedRow[] {
  const byId = new Map(right.map((row) => [row.testcase_id, row]))
  const leftIds = new Set(left.map((row) => row.testcase_id))
  const byDedup = new Map(
    right.flatMap((row): [string, RowResult][] => {
      const dedupId = leftIds.has(row.testcase_id) ? undefined : dedupIdOf.get(row.testcase_id)
      return dedupId === undefined ? [] : [[dedupId, row]]
    }),
  )
  const taken = new Set<RowResult>()
  const rows = left.map((row): ComparedRow => {
    const partner = byId.get(row.testcase_id) ?? byDedup.get(dedupIdOf.get(row.testcase_id) ?? '')
    if (partner) taken.add(partner)
    return compared(row, partner, judges)
  })
  return [...rows, ...right.filter((row) => !taken.has(row)).map((row) => compared(undefined, row, judges))]
}

function compared(
  left: RowResult | undefined,
  right: RowResult | undefined,
  judges: readonly JudgePair[],
): ComparedRow {
  const key = (left ?? right)?.testcase_id ?? ''
  if (!left || !right)
    return { key, left, right, change: left ? 'only left' : 'only right', isOutputChanged: false }
  const comparable = judges.filter(({ isComparable }) => isComparable)
  const signs = comparable.map((judge) =>
    signOf(outcomeOf(left.evaluators[judge.left.name]), outcomeOf(right.evaluators[judge.right.name])),
  )
  const [up, down] = [signs.some((sign) => sign > 0), signs.some((sign) => sign < 0)]
  return {
    key,
    left,
    right,
    change:
      judges.length > 0 && comparable.length === 0
        ? 'not comparable'
        : up && down
          ? 'mixed'
          : up
            ? 'better'
            : down
              ? 'worse'
              : 'same',
    isOutputChanged: outputOf(left) !== outputOf(right),
  }
}

/** 1 if the right one is better, -1 if it is worse. */
function signOf(left: Outcome, right: Outcome): number {
  const [before, after] = [rankOf(left), rankOf(right)]
  return before === undefined || after === undefined || before === after ? 0 : after > before ? 1 : -1
}
