import { useSyncExternalStore } from 'react'

/** How two sides are shown. */
export type DiffLayout = 'split' | 'unified'

const KEY = 'branchpoint-diff'
const wide = matchMedia('(min-width: 1100px)')
const listeners = new Set<() => void>()

/** What somebody chose in this browser; else side by side where there is room. */
export function useDiffLayout(): DiffLayout {
  return useSyncExternalStore(listen, current)
}

/** Keeps the choice for all comparisons. */
export function chooseDiffLayout(layout: DiffLayout): void {
  localStorage.setItem(KEY, layout)
  for (const changed of listeners) changed()
}

function current(): DiffLayout {
  const kept = localStorage.getItem(KEY)
  if (kept === 'split' || kept === 'unified') return kept
  return wide.matches ? 'split' : 'unified'
}

function listen(changed: () => void): () => void {
  listeners.add(changed)
  wide.addEventListener('change', changed)
  return () => {
    listeners.delete(changed)
    wide.removeEventListener('change', changed)
  }
}
