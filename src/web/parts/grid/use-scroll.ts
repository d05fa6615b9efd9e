import { useLayoutEffect, useRef, useState } from 'react'
import { farthest, movedTo, scrollAt, type Span } from './scroll-scale.ts'

/** Where a view begins, in px of what is looked at. */
export interface Position {
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

/** Where a view that begins at `at` has to begin so that it shows a stretch, or its begin if that is longer; what is far away comes into its middle. */
function beginToSee([begin, end]: Stretch, at: number, span: Span): number {
  if (end < at - span.view || begin > at + 2 * span.view) {
    const middle = begin - (span.view - (end - begin)) / 2
    return Math.min(Math.max(middle, 0), farthest(span))
  }
  if (begin < at) return begin
  if (end <= at + span.view) return at
  return Math.min(begin, end - span.view, farthest(span))
}
