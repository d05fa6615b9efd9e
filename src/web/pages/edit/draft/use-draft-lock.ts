import { useEffect, useState } from 'react'

/** Whether this tab is the one that edits the draft: undefined until that is known. */
export interface DraftLock {
  readonly isHeld: boolean | undefined
  /** Makes this tab the one; the other one is told. */
  readonly takeOver: () => void
}

/**
 * Of all tabs of a browser that show a draft, one may edit it: else the last to write would silently win. When that tab is closed, the next
 * one may. A browser without locks (http to another machine) is not watched.
 */
export function useDraftLock(name: string): DraftLock {
  const [isHeld, setHeld] = useState<boolean>()
  const [steals, setSteals] = useState(0)
  useEffect(() => {
    const { locks } = navigator as { readonly locks?: LockManager }
    if (!locks) {
      setHeld(true)
      return undefined
    }
    const left = new AbortController()
    const isOver = new Promise<void>((resolve) => left.signal.addEventListener('abort', () => resolve()))
    const hold = async (lock: Lock | null): Promise<void> => {
      if (left.signal.aborted) return
      setHeld(lock !== null)
      if (lock) await isOver
    }
    async function follow(): Promise<void> {
      if (!locks) return
      if (steals > 0) await locks.request(name, { steal: true }, hold)
      else await locks.request(name, { ifAvailable: true }, hold)
      if (!left.signal.aborted) await locks.request(name, { signal: left.signal }, hold)
    }
    // Another tab has taken over, or this page is left.
    follow().catch(() => {
      if (!left.signal.aborted) setHeld(false)
    })
    return () => left.abort()
  }, [name, steals])
  return { isHeld, takeOver: () => setSteals((times) => times + 1) }
}
