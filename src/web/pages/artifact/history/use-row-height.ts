import { useSyncExternalStore } from 'react'

const narrow = matchMedia('(max-width: 639px)')
const coarse = matchMedia('(pointer: coarse)')

/** How high a row of the history is, in pixels: two lines on a telephone, and room for a finger on what is touched. */
export function useRowHeight(): number {
  return useSyncExternalStore(follow, () => (narrow.matches ? 60 : coarse.matches ? 44 : 36))
}

function follow(changed: () => void): () => void {
  for (const media of [narrow, coarse]) media.addEventListener('change', changed)
  return () => {
    for (const media of [narrow, coarse]) media.removeEventListener('change', changed)
  }
}
