import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import type { GridPlace } from '../../parts/grid/move-cell.ts'

type Search = Readonly<Record<string, string | undefined>>

/** Moves follow one another faster than an address may change: it says where one is once that has been so for a while. */
const REST = 400

/**
 * The cell that has the focus, which is in the address (`?at=<row from 1>&column=`) so that a link leads to it. A link that names a row by its
 * dedup id alone (`?row=`) leads to wherever the row stands in the revision.
 */
export function useActive(revisionId: string, columns: readonly string[], total: number) {
  const search = useSearch({ strict: false }) as Search
  const navigate = useNavigate()
  const here = placeIn(search, columns, total)
  const [active, setActive] = useState(here ?? { row: 0, column: 0 })
  // Where this page sent the router, which arrives there later: that is no move of somebody's.
  const sent = useRef<string[]>([])
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])

  const isNamed = search['row'] !== undefined && search['at'] === undefined && total > 0
  const found = useRoute(
    'POST /testsets/rows/find',
    { body: { testset_revision_ref: { id: revisionId }, dedup_id: search['row'] ?? '' } },
    { enabled: isNamed, immutable: true },
  )
  const offset = isNamed ? found.data?.row.offset : undefined
  useEffect(() => {
    if (offset === undefined) return
    const { column } = search
    show({}, { row: offset, column: column === undefined ? 0 : columns.indexOf(column) + 1 }, true)
  }, [offset])

  // Somebody went back, or followed a link to a cell of this page.
  const arrived = here && `${here.row} ${here.column}`
  useEffect(() => {
    const at = sent.current.indexOf(arrived ?? '')
    if (at >= 0) sent.current.splice(0, at + 1)
    else if (here) setActive(here)
  }, [arrived])

  function go(place: GridPlace, what: Search, replace: boolean): void {
    clearTimeout(timer.current)
    if (`${place.row} ${place.column}` !== arrived) sent.current.push(`${place.row} ${place.column}`)
    const address = { at: String(place.row + 1), column: columns[place.column - 1] }
    void navigate({ to: '.', search: (before: Search) => ({ ...before, ...address, ...what }), replace })
  }

  /** Moves to a cell. */
  function move(place: GridPlace): void {
    setActive(place)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => go(place, {}, true), REST)
  }

  /** Changes what else the address says, together with where one is. */
  function show(what: Search, place = active, replace = false): void {
    setActive(place)
    go(place, what, replace)
  }

  return {
    active,
    move,
    show,
    search,
    /** While the row that a link names is looked for. */
    isLooking: isNamed && found.isPending,
    /** Why that row is not there. */
    missing: isNamed ? found.error : null,
  }
}

/** Where an address leads; undefined for one that says nothing of it. */
function placeIn({ at, column }: Search, columns: readonly string[], total: number): GridPlace | undefined {
  const row = Number(at)
  if (!Number.isInteger(row) || row < 1 || total === 0) return undefined
  return { row: Math.min(row, total) - 1, column: column === undefined ? 0 : columns.indexOf(column) + 1 }
}
