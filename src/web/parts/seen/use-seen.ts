import { type RefObject, useEffect, useRef, useState } from 'react'

/** Whether an element has been visible, for what is loaded only then. */
export function useSeen<E extends Element>(): {
  readonly ref: RefObject<E | null>
  readonly isSeen: boolean
} {
  const ref = useRef<E>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    const element = ref.current
    if (!element || isSeen) return undefined
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true)
      },
      { rootMargin: '200px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [isSeen])
  return { ref, isSeen }
}
