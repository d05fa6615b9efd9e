import { useLayoutEffect, useRef, useState } from 'react'

/** The position of the view, in px of the content. */
interface Position {
  readonly top: number
  readonly left: number
}

/** A scrolled view of content of any size. `inset` is the part of the element that does not scroll: a header, frozen columns. */
export function useScroll(
  content: { readonly width: number; readonly height: number },
  inset: { readonly width: number; readonly height: number },
) {
  const element = useRef<HTMLDivElement>(null)
  const [client, setClient] = useState({ width: 0, height: 0 })
  const [at, setAt] = useState<Position>({ top: 0, left: 0 })
  const exact = useRef({ top: 0, left: 0, scrollTop: 0, scrollLeft: 0 })
  const settling = useRef<ReturnType<typeof setTimeout>>(undefined)
  const y: Span = { size: content.height, view: Math.max(0, client.height - inset.height) }
  const x: Span = { size: content.width, view: Math.max(0, client.width - inset.width) }

  useLayoutEffect(() => {
    const { current } = element
    if (!current) return
    const measure = (): void => setClient({ width: current.clientWidth, height: current.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => {
      observer.disconnect()
      clearTimeout(settling.current)
    }
  }, [])

  function onScroll(): void {
    const { current } = element
    if (!current) return
    const now = exact.current
    now.top = movedTo(now.top, now.scrollTop, current.scrollTop, y)
    now.left = movedTo(now.left, now.scrollLeft, current.scrollLeft, x)
    now.scrollTop = current.scrollTop
    now.scrollLeft = current.scrollLeft
    setAt({ top: now.top, left: now.left })
    // After short moves the scroll bar is slightly off; it is corrected when scrolling stops. A scroll whose event is still to come is not undone.
    clearTimeout(settling.current)
    settling.current = setTimeout(() => {
      if (current.scrollTop === now.scrollTop && current.scrollLeft === now.scrollLeft) put(now)
    }, 200)
  }

  function put({ top, left }: Position): void {
    const { current } = element
    if (!current) return
    current.scrollTop = scrollAt(top, y)
    current.scrollLeft = scrollAt(left, x)
    exact.current = { top, left, scrollTop: current.scrollTop, scrollLeft: current.scrollLeft }
  }

  /** Scrolls just enough to show a vertical and a horizontal range. */
  function reveal(down: Stretch, across: Stretch | undefined): void {
    const now = exact.current
    const top = beginToSee(down, now.top, y)
    const left = across ? beginToSee(across, now.left, x) : now.left
    if (top === now.top && left === now.left) return
    put({ top, left })
    setAt({ top, left })
  }

  return {
    element,
    onScroll,
    reveal,
    client,
    x,
    y,
    top: Math.min(at.top, farthest(y)),
    left: Math.min(at.left, farthest(x)),
  }
}

/** The start and end of a range. */
type Stretch = readonly [begin: number, end: number]

/** The position of the view that shows a range, or its start if it is longer; a distant range is centred. */
function beginToSee([begin, end]: Stretch, at: number, span: Span): number {
  if (end < at - span.view || begin > at + 2 * span.view) {
    const middle = begin - (span.view - (end - begin)) / 2
    return Math.min(Math.max(middle, 0), farthest(span))
  }
  if (begin < at) return begin
  if (end <= at + span.view) return at
  return Math.min(begin, end - span.view, farthest(span))
}

/** The maximum height of an element, in px: Firefox allows about 17.9 million, others 33.5 million. */
const LONGEST = 15_000_000

/** One direction of a view of content that may be longer than an element can be, in px. */
interface Span {
  /** The length of the content. */
  readonly size: number
  /** The visible length. */
  readonly view: number
}

/** The length of the scrolling element. */
export function elementLength({ size, view }: Span): number {
  return Math.max(view, Math.min(size, LONGEST))
}

/** The last position of the view. */
function farthest({ size, view }: Span): number {
  return Math.max(0, size - view)
}

/** The position of the view for a position of the scroll bar. */
function positionAt(scroll: number, span: Span): number {
  return within(scroll * scaleOf(span), span)
}

/** The position of the scroll bar for a position of the view. */
function scrollAt(position: number, span: Span): number {
  return within(position, span) / scaleOf(span)
}

/**
 * The position of the view after the scroll bar moved. A short move comes from a wheel or a finger, and scrolls by as many px; a long one comes
 * from dragging the bar, and sets a position.
 */
function movedTo(position: number, from: number, to: number, span: Span): number {
  const isAtEdge = to <= 0 || to >= elementLength(span) - span.view
  if (isAtEdge || Math.abs(to - from) > span.view) return positionAt(to, span)
  return within(position + to - from, span)
}

function within(position: number, span: Span): number {
  return Math.min(Math.max(position, 0), farthest(span))
}

/** The px of content for one px of the scroll bar. */
function scaleOf(span: Span): number {
  const way = elementLength(span) - span.view
  return way <= 0 || span.size <= LONGEST ? 1 : farthest(span) / way
}

/** The minimum width of a column, in px. */
const NARROWEST = 48

/** The left edges of the columns, and the right edge of the last one, in px. */
export type Edges = Float64Array

/** The edges of columns; the last column fills the rest of the view. */
export function edgesOf(widths: readonly number[], view: number): Edges {
  const edges = new Float64Array(widths.length + 1)
  for (const [at, width] of widths.entries()) edges[at + 1] = (edges[at] ?? 0) + width
  const last = widths.length
  if (last > 0 && (edges[last] ?? 0) < view) edges[last] = view
  return edges
}

/** The columns, `from` to before `to`, between two positions. */
export function columnsBetween(
  edges: Edges,
  left: number,
  right: number,
): { readonly from: number; readonly to: number } {
  const count = edges.length - 1
  const from = Math.max(0, firstBeyond(edges, left) - 1)
  return { from, to: Math.min(count, Math.max(firstBeyond(edges, right), from)) }
}

/** The first edge after a position. */
function firstBeyond(edges: Edges, position: number): number {
  let [low, high] = [0, edges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((edges[middle] ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}

/** The widths of columns that the user set in this browser, by name. */
type Widths = ReadonlyMap<string, number>

/** The saved widths. */
export function keptWidths(key: string): Widths {
  try {
    const entries = JSON.parse(localStorage.getItem(key) ?? '[]') as readonly (readonly [string, number])[]
    return new Map(entries.filter(([, width]) => width >= NARROWEST))
  } catch {
    return new Map()
  }
}

/** Saves a width, and returns all. */
export function keepWidth(key: string, widths: Widths, column: string, width: number): Widths {
  const changed = new Map(widths).set(column, Math.max(NARROWEST, Math.round(width)))
  try {
    localStorage.setItem(key, JSON.stringify([...changed]))
  } catch {
    // A browser that cannot store them loses the widths with the page.
  }
  return changed
}

/** A cell of a grid, counted from 0; column 0 is the frozen one. */
export interface GridPlace {
  readonly row: number
  readonly column: number
}

/** A rectangle of cells, both ends included. */
export interface GridRange {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly right: number
}

/** The range between two cells. */
export function rangeOf(active: GridPlace, anchor: GridPlace = active): GridRange {
  return {
    top: Math.min(active.row, anchor.row),
    bottom: Math.max(active.row, anchor.row),
    left: Math.min(active.column, anchor.column),
    right: Math.max(active.column, anchor.column),
  }
}

/** The cell that a key leads to; undefined if the key does not move. `page` is the number of visible rows. */
export function placeAfterKey(
  { row, column }: GridPlace,
  key: string,
  isFar: boolean,
  { rows, columns, page }: { readonly rows: number; readonly columns: number; readonly page: number },
): GridPlace | undefined {
  const to = (newRow: number, newColumn = column): GridPlace => ({
    row: Math.min(Math.max(newRow, 0), rows - 1),
    column: Math.min(Math.max(newColumn, 0), columns - 1),
  })
  switch (key) {
    case 'ArrowDown':
      return to(isFar ? rows - 1 : row + 1)
    case 'ArrowUp':
      return to(isFar ? 0 : row - 1)
    case 'ArrowRight':
      return to(row, isFar ? columns - 1 : column + 1)
    case 'ArrowLeft':
      return to(row, isFar ? 0 : column - 1)
    case 'j':
      return isFar ? undefined : to(row + 1)
    case 'k':
      return isFar ? undefined : to(row - 1)
    case 'PageDown':
      return to(row + page)
    case 'PageUp':
      return to(row - page)
    case 'Home':
      return to(isFar ? 0 : row, 0)
    case 'End':
      return to(isFar ? rows - 1 : row, columns - 1)
    default:
      return undefined
  }
}
