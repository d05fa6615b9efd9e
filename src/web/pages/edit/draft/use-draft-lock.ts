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
      if (!lock) return
      setHeld(true)
      await isOver
    }
    async function follow(): Promise<void> {
      await attempt(steals > 0 ? { steal: true } : { ifAvailable: true })
      // Another tab has it, from the start or by taking it over: this one waits until that is closed.
      while (!left.signal.aborted) {
        setHeld(false)
        await attempt({ signal: left.signal })
      }
    }
    async function attempt(options: LockOptions): Promise<void> {
      try {
        await locks?.request(name, options, hold)
      } catch {
        // It was taken over, or this page is left.
      }
    }
    void follow()
    return () => left.abort()
  }, [name, steals])
  return { isHeld, takeOver: () => setSteals((times) => times + 1) }
}
