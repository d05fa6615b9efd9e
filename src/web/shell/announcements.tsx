import { useEffect, useState } from 'react'

const said = new EventTarget()

/** Has screen readers say what has happened, where the page shows it only to the eye. */
export function announce(words: string): void {
  said.dispatchEvent(new CustomEvent('said', { detail: words }))
}

/**
 * What was announced last. It is there before it has words, because screen readers announce only what changes, and it has `aria-live` beside its
 * role, because a dialog hides from them everything that has not.
 */
export function Announcements() {
  const [words, setWords] = useState('')
  useEffect(() => {
    const hear = (event: Event): void => setWords((event as CustomEvent<string>).detail)
    said.addEventListener('said', hear)
    return () => said.removeEventListener('said', hear)
  }, [])
  return (
    <p role="status" aria-live="polite" className="visually-hidden">
      {words}
    </p>
  )
}
