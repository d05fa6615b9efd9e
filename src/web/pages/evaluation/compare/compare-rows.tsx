import { useNavigate, useSearch } from '@tanstack/react-router'
import type { Evaluation } from '../../../parts/evaluation/evaluation-state.tsx'
import { Empty } from '../../../parts/states/empty.tsx'
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
  readonly names: readonly string[]
  readonly rows: readonly ComparedRow[]
}

const SHOWN: readonly {
  readonly show: string | undefined
  readonly label: string
  readonly has: (row: ComparedRow) => boolean
}[] = [
  { show: undefined, label: 'All rows', has: () => true },
  { show: 'better', label: 'Better', has: ({ change }) => change === 'better' || change === 'mixed' },
  { show: 'worse', label: 'Worse', has: ({ change }) => change === 'worse' || change === 'mixed' },
  { show: 'changed', label: 'Another output', has: ({ isOutputChanged }) => isOutputChanged },
  { show: 'alone', label: 'Only in one', has: ({ change }) => change.startsWith('only') },
]

/** The rows of both, narrowed as the address says. */
export function CompareRows({ left, right, names, rows }: CompareRowsProps) {
  const { show } = useSearch({ strict: false }) as { readonly show?: string }
  const navigate = useNavigate()
  const { row: opened, open, close } = useOpenRow()
  const expected = useExpectedColumns(right.evaluators)
  const chosen = SHOWN.find((it) => it.show === show) ?? SHOWN[0]
  const shown = rows.filter((row) => chosen?.has(row))
  const openedRow = rows.find(({ key }) => key === opened)
  return (
    <>
      <div className={shared.filters}>
        <div role="group" aria-label="Rows shown" className={shared.choices}>
          {SHOWN.map((it) => (
            <button
              key={it.label}
              type="button"
              aria-pressed={it === chosen}
              onClick={() =>
                void navigate({
                  to: places.compareEvaluations(left.id, right.id),
                  search: { show: it.show } as never,
                })
              }
            >
              {it.label} {rows.filter(it.has).length.toLocaleString()}
            </button>
          ))}
        </div>
      </div>
      {shown.length === 0 ? (
        <Empty>No row is like this.</Empty>
      ) : (
        <div className={openedRow ? shared.beside : undefined}>
          <CompareTable
            key={show}
            names={names}
            rows={shown}
            expected={expected}
            opened={opened}
            open={open}
            close={close}
          />
          {openedRow && <ComparePanel row={openedRow} names={names} expected={expected} close={close} />}
        </div>
      )}
    </>
  )
}
