import { del, set } from 'idb-keyval'
import { useEffect, useRef, useState } from 'react'
import { draftsKept, onEmptied } from './drafts-kept.ts'

/** A draft that this browser keeps while it is edited. */
export interface Keeping<D> {
  /** The draft that was kept last. */
  readonly kept: D | undefined
  /** Why the browser could not keep it; undefined if it could. */
  readonly problem: string | undefined
  /** Keeps a draft after a pause, in milliseconds; at once if the page is left before. */
  readonly keepSoon: (draft: D, pause: number) => void
  readonly keepNow: (draft: D) => Promise<void>
  /** Deletes it. */
  readonly drop: () => Promise<void>
}

/** Keeps the drafts of `name`, of which `begun` is kept already. `written` makes of one what IndexedDB holds; undefined if it has no changes. */
export function useKeeping<D>(
  name: string,
  written: (draft: D) => unknown,
  begun?: D,
  store = draftsKept,
): Keeping<D> {
  const [kept, setKept] = useState(begun)
  const [problem, setProblem] = useState<string>()
  const waiting = useRef<{ readonly draft: D; readonly timer: ReturnType<typeof setTimeout> }>(undefined)
  const isEmptied = useRef(false)

  async function keepNow(draft: D): Promise<void> {
    forget()
    if (isEmptied.current) return
    try {
      const value = written(draft)
      await (value === undefined ? del(name, store) : set(name, value, store))
      setKept(draft)
      setProblem(undefined)
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }

  function forget(): void {
    clearTimeout(waiting.current?.timer)
    waiting.current = undefined
  }

  useEffect(() => {
    const flush = (): void => void (waiting.current && keepNow(waiting.current.draft))
    document.addEventListener('visibilitychange', flush)
    window.addEventListener('pagehide', flush)
    const leave = onEmptied(() => {
      isEmptied.current = true
      setProblem('somebody signed out in another tab.')
    })
    return () => {
      flush()
      leave()
      document.removeEventListener('visibilitychange', flush)
      window.removeEventListener('pagehide', flush)
    }
  }, [])

  return {
    kept,
    problem,
    keepNow,
    keepSoon: (draft, pause) => {
      forget()
      waiting.current = { draft, timer: setTimeout(() => void keepNow(draft), pause) }
    },
    drop: async () => {
      forget()
      await del(name, store).catch(() => undefined)
    },
  }
}
