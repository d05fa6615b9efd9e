import { useLayoutEffect, useRef, useState } from 'react'

/** Where a view begins, in px of what is looked at. */
interface Position {
  readonly top: number
  readonly left: number
}

/** A scrolled view onto something of any size. `inset` is what of the element is no view: a header, frozen columns. */
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
    // Short ways leave the bar beside where it belongs; it is put there when nobody moves it.
    clearTimeout(settling.current)
    settling.current = setTimeout(() => put({ top: now.top, left: now.left }), 200)
  }

  function put({ top, left }: Position): void {
    const { current } = element
    if (!current) return
    current.scrollTop = scrollAt(top, y)
    current.scrollLeft = scrollAt(left, x)
    exact.current = { top, left, scrollTop: current.scrollTop, scrollLeft: current.scrollLeft }
  }

  /** Scrolls just so far that what lies between two positions downwards, and two across, is seen. */
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

/** From where to where something lies. */
type Stretch = readonly [begin: number, end: number]

/** Where a view that begins at `at` must begin so that it shows a stretch, or its begin if that is longer; what is far away comes into its middle. */
function beginToSee([begin, end]: Stretch, at: number, span: Span): number {
  if (end < at - span.view || begin > at + 2 * span.view) {
    const middle = begin - (span.view - (end - begin)) / 2
    return Math.min(Math.max(middle, 0), farthest(span))
  }
  if (begin < at) return begin
  if (end <= at + span.view) return at
  return Math.min(begin, end - span.view, farthest(span))
}

/** No element is longer than this, in px: Firefox ends at some 17.9 million, others at 33.5 million. */
const LONGEST = 15_000_000

/** One direction of a view onto what may be longer than an element can be, in px. */
interface Span {
  /** How long what is looked at is. */
  readonly size: number
  /** How much of it is seen at once. */
  readonly view: number
}

/** How long the element that scrolls must be. */
export function elementLength({ size, view }: Span): number {
  return Math.max(view, Math.min(size, LONGEST))
}

/** The farthest position that a view can begin at. */
function farthest({ size, view }: Span): number {
  return Math.max(0, size - view)
}

/** Where the view begins when the bar is dragged to `scroll`. */
function positionAt(scroll: number, span: Span): number {
  return within(scroll * scaleOf(span), span)
}

/** Where the bar stands when the view begins at `position`. */
function scrollAt(position: number, span: Span): number {
  return within(position, span) / scaleOf(span)
}

/**
 * Where the view begins after the bar went from one place to another. A short way is a wheel or a finger, and moves by as many px as it says,
 * whatever the scale; a long one is the bar itself, which says a place.
 */
function movedTo(position: number, from: number, to: number, span: Span): number {
  const isAtEdge = to <= 0 || to >= elementLength(span) - span.view
  if (isAtEdge || Math.abs(to - from) > span.view) return positionAt(to, span)
  return within(position + to - from, span)
}

function within(position: number, span: Span): number {
  return Math.min(Math.max(position, 0), farthest(span))
}

/** How many px of what is looked at one px of the bar's way stands for. */
function scaleOf(span: Span): number {
  const way = elementLength(span) - span.view
  return way <= 0 || span.size <= LONGEST ? 1 : farthest(span) / way
}

/** A column is never narrower than this, in px. */
const NARROWEST = 48

/** Where columns of different widths begin; one more than there are, the last is where they end. In px. */
export type Edges = Float64Array

/** The edges of columns; the last one takes what is left of the view. */
export function edgesOf(widths: readonly number[], view: number): Edges {
  const edges = new Float64Array(widths.length + 1)
  for (const [at, width] of widths.entries()) edges[at + 1] = (edges[at] ?? 0) + width
  const last = widths.length
  if (last > 0 && (edges[last] ?? 0) < view) edges[last] = view
  return edges
}

/** The columns from `from` to before `to` that are seen between two positions. */
export function columnsBetween(
  edges: Edges,
  left: number,
  right: number,
): { readonly from: number; readonly to: number } {
  const count = edges.length - 1
  const from = Math.max(0, firstBeyond(edges, left) - 1)
  return { from, to: Math.min(count, Math.max(firstBeyond(edges, right), from)) }
}

/** The first edge that lies beyond a position. */
function firstBeyond(edges: Edges, position: number): number {
  let [low, high] = [0, edges.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((edges[middle] ?? 0) <= position) low = middle + 1
    else high = middle
  }
  return low
}

/** Widths that somebody chose in this browser, by the name of the column. */
type Widths = ReadonlyMap<string, number>

/** The widths that were kept under a key. */
export function keptWidths(key: string): Widths {
  try {
    const entries = JSON.parse(localStorage.getItem(key) ?? '[]') as readonly (readonly [string, number])[]
    return new Map(entries.filter(([, width]) => width >= NARROWEST))
  } catch {
    return new Map()
  }
}

/** Keeps a width, and answers all of them. */
export function keepWidth(key: string, widths: Widths, column: string, width: number): Widths {
  const changed = new Map(widths).set(column, Math.max(NARROWEST, Math.round(width)))
  try {
    localStorage.setItem(key, JSON.stringify([...changed]))
  } catch {
    // A browser that keeps nothing forgets the widths with the page.
  }
  return changed
}

/** A place of a grid, both counted from 0; column 0 is the frozen one. */
export interface GridPlace {
  readonly row: number
  readonly column: number
}

/** Where a key leads from a place; undefined for a key that leads nowhere. `page` is how many rows are seen at once. */
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
