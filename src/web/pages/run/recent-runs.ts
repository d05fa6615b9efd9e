import { useSyncExternalStore } from 'react'
import type { RunState } from './use-run.ts'

/** A run of this window, to look at again. */
export interface RecentRun {
  readonly id: number
  readonly at: string
  readonly variant: string
  readonly version: number
  readonly inputs: string
  readonly outcome: RunState
}

/** So many are kept of an artifact, until the window is closed. */
const MOST = 20

const runs = new Map<string, readonly RecentRun[]>()
const listeners = new Set<() => void>()
const NONE: readonly RecentRun[] = []
let made = 0

/** Takes note of a run that is over. */
export function rememberRun(slug: string, run: Omit<RecentRun, 'id'>): void {
  made += 1
  runs.set(slug, [{ id: made, ...run }, ...(runs.get(slug) ?? NONE)].slice(0, MOST))
  for (const changed of listeners) changed()
}

/** The runs of an artifact in this window, the newest first. */
export function useRecentRuns(slug: string): readonly RecentRun[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => runs.get(slug) ?? NONE,
  )
}
