/** No element is longer than this, in px: Firefox ends at some 17.9 million, others at 33.5 million. */
const LONGEST = 15_000_000

/** One direction of a view onto what may be longer than an element can be, in px. */
export interface Span {
  /** How long what is looked at is. */
  readonly size: number
  /** How much of it is seen at once. */
  readonly view: number
}

/** How long the element that scrolls has to be. */
export function elementLength({ size, view }: Span): number {
  return Math.max(view, Math.min(size, LONGEST))
}

/** The farthest position that a view can begin at. */
export function farthest({ size, view }: Span): number {
  return Math.max(0, size - view)
}

/** Where the view begins when the bar is dragged to `scroll`. */
export function positionAt(scroll: number, span: Span): number {
  return within(scroll * scaleOf(span), span)
}

/** Where the bar stands when the view begins at `position`. */
export function scrollAt(position: number, span: Span): number {
  return within(position, span) / scaleOf(span)
}

/**
 * Where the view begins after the bar went from one place to another. A short way is a wheel or a finger, and moves by as many px as it says,
 * whatever the scale; a long one is the bar itself, which says a place.
 */
export function movedTo(position: number, from: number, to: number, span: Span): number {
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
