import { useCallback, useMemo, useState } from 'react'
import { useCommands } from '../../shell/commands.tsx'
import { cellText } from './cell-text.ts'
import { edgesOf, keepWidth, keptWidths } from './column-layout.ts'
import type { GridRow } from './grid-cells.tsx'

export interface ColumnsAsked {
  readonly keyName: string
  readonly columns: readonly string[]
  readonly total: number
  readonly sample: readonly GridRow[]
  readonly widthsKey: string
  /** The column that has the focus, 0 for the frozen one. */
  readonly activeColumn: number
  /** Px beside the frozen columns. */
  readonly room: number
}

/** How wide the columns are: as somebody made them in this browser, else as their values need it. */
export function useColumns({ keyName, columns, total, sample, widthsKey, activeColumn, room }: ColumnsAsked) {
  const [widths, setWidths] = useState(() => keptWidths(widthsKey))
  const guessed = useMemo(() => columns.map((name) => guessedWidth(name, sample)), [columns, sample])
  const own = useMemo(
    () => columns.map((name, at) => widths.get(name) ?? guessed[at] ?? 0),
    [columns, widths, guessed],
  )
  const number = 24 + 8 * total.toLocaleString().length
  const key = widths.get(keyName) ?? 124
  const frozen = useMemo(() => ({ number, key }), [number, key])
  const edges = useMemo(() => edgesOf(own, room), [own, room])
  const resize = useCallback(
    (column: string, wanted: number) => setWidths((before) => keepWidth(widthsKey, before, column, wanted)),
    [widthsKey],
  )
  function resizeActive(by: number): void {
    const name = activeColumn === 0 ? keyName : columns[activeColumn - 1]
    if (name !== undefined) resize(name, (activeColumn === 0 ? key : (own[activeColumn - 1] ?? 0)) + by)
  }
  useCommands([
    { id: 'wider', title: 'Make the column wider', keys: '>', group: 'Grid', run: () => resizeActive(32) },
    {
      id: 'narrower',
      title: 'Make the column narrower',
      keys: '<',
      group: 'Grid',
      run: () => resizeActive(-32),
    },
  ])
  return { frozen, edges, resize }
}

/** A width for a column, in px, of its name and its values in some rows, with room for somewhat longer ones. */
function guessedWidth(name: string, sample: readonly GridRow[]): number {
  const longest = sample.reduce(
    (most, { values }) => Math.max(most, Object.hasOwn(values, name) ? cellText(values[name]).length : 0),
    Math.min(name.length, 30),
  )
  return Math.min(Math.max(longest * 9 + 32, 88), 320)
}
