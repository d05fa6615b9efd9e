import type { JudgePair } from '../../../parts/evaluation/judge-pairs.ts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
import { Toggles } from '../../../parts/toggles/toggles.tsx'
import { places } from '../../../shell/places.ts'
import { useExpectedColumns } from '../rows/use-expected.ts'
import { useOpenRow } from '../use-open-row.ts'
import { ComparePanel } from './compare-panel.tsx'
import { CompareTable } from './compare-table.tsx'
import type { ComparedRow } from './join-rows.ts'
import shared from '../rows/rows.module.css'

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
