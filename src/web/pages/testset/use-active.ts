import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { GridPlace } from '../../parts/grid/move-cell.ts'

type Search = Readonly<Record<string, string | undefined>>

/** Moves follow one another faster than an address may change: it says where one is once that has been so for a while. */
const REST = 400

/** The cell that has the focus, which is in the address (`?at=<row from 1>&column=`) so that a link leads to it. */
export function useActive(columns: readonly string[], total: number) {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const { at, column } = search
  const [active, setActive] = useState(() => placeIn(at, column, columns, total))
  const written = useRef({ at, column })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  // Somebody went back, or followed a link to a cell of this page.
  useEffect(() => {
    if (written.current.at === at && written.current.column === column) return
    written.current = { at, column }
    setActive(placeIn(at, column, columns, total))
  }, [at, column, columns, total])

  function move(place: GridPlace): void {
    setActive(place)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      written.current = addressOf(place, columns)
      void navigate({
        to: '.',
        search: (before: Search) => ({ ...before, ...written.current }),
        replace: true,
      })
    }, REST)
  }

  /** Changes what else the address says, together with where one is. */
  function show(what: Search, place = active): void {
    clearTimeout(timer.current)
    if (place) {
      setActive(place)
      written.current = addressOf(place, columns)
    }
    void navigate({ to: '.', search: (before: Search) => ({ ...before, ...written.current, ...what }) })
  }

  return { active, move, show, search }
}

function placeIn(
  at: string | undefined,
  column: string | undefined,
  columns: readonly string[],
  total: number,
): GridPlace | undefined {
  const row = Number(at)
  if (!Number.isInteger(row) || row < 1 || total === 0) return undefined
  return { row: Math.min(row, total) - 1, column: column === undefined ? 0 : columns.indexOf(column) + 1 }
}

function addressOf({ row, column }: GridPlace, columns: readonly string[]) {
  return { at: String(row + 1), column: column === 0 ? undefined : columns[column - 1] }
}
