import { useEffect, useState } from 'react'

/** Whether this tab may edit the draft; undefined until that is known. */
export interface DraftLock {
  readonly isHeld: boolean | undefined
  /** Moves the edit to this tab. */
  readonly takeOver: () => void
}

/**
 * Only one tab may edit a draft: otherwise the last to save would silently win. When that tab is closed, another one may. A browser without locks
 * (http to another machine) is not checked.
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
      // Another tab edits the draft: wait until it is closed.
      while (!left.signal.aborted) {
        setHeld(false)
        await attempt({ signal: left.signal })
      }
    }
    async function attempt(options: LockOptions): Promise<void> {
      try {
        await locks?.request(name, options, hold)
      } catch {
        // Another tab took over, or this page was left.
      }
    }
    void follow()
    return () => left.abort()
  }, [name, steals])
  return { isHeld, takeOver: () => setSteals((times) => times + 1) }
}
