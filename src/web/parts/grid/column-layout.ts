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
export type Widths = ReadonlyMap<string, number>

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
