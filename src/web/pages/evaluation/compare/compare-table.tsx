import type { JudgePair } from '../../../parts/evaluation/judge-pairs.ts'
import { clipped, textOf } from '../../../parts/excerpt/excerpt.ts'
import { outcomeOf, type RowResult } from '../outcome.ts'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { call } from '../../../api/call.ts'
import { InputsCell, OutputCell } from '../rows/cells.tsx'
import { expectedOf } from '../rows/use-expected.ts'
import { VirtualTable } from '../rows/virtual-table.tsx'
import { Verdict } from '../verdict.tsx'
import { Change } from './change.tsx'
import type { ComparedRow } from './join-rows.ts'
import shared from '../rows/rows.module.css'

export interface CompareTableProps {
  readonly judges: readonly JudgePair[]
  readonly rows: readonly ComparedRow[]
  readonly expected: readonly string[]
  readonly opened: string | undefined
  readonly open: (key: string) => void
  readonly close: () => void
}

/** So many rows are read at once, as they come near. */
const PAGE = 200

/** Rows of two runs with both outputs and both verdicts. */
export function CompareTable({ judges, rows, expected, opened, open, close }: CompareTableProps) {
  const [wanted, setWanted] = useState(PAGE)
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
      loadMore={() => setWanted((before) => Math.min(rows.length, Math.max(before, near.length + PAGE)))}
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
