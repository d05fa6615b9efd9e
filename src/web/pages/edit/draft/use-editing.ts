import { del, get, set } from 'idb-keyval'
import { useEffect, useMemo, useRef, useState } from 'react'
import { onEmptied, draftsKept as store } from '../../../parts/drafts/drafts-kept.ts'
import type { JsonChange } from '../../../parts/json-text/json-text.ts'
import { type Base, beginAt, changeIn, type Editing, isChanged, problemOfParameters } from './editing.ts'

/** How long a pause in typing is after which the draft is kept, in milliseconds. */
const PAUSE = 400

/** What is edited, and its draft in the browser. */
export interface EditingState {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly isDirty: boolean
  /** What a commit says; undefined where nothing is changed, or cannot be said yet. */
  readonly change: JsonChange
  /** Where the draft stands: a time, or why the browser keeps none. */
  readonly kept: { readonly at: string } | { readonly problem: string } | undefined
  /** Forgets the draft, for good. */
  readonly drop: () => Promise<void>
}

/** An edit of `base` that begins where the draft left off, and is kept under `name` while `mayKeep` (another tab might have it). */
export function useEditing(
  name: string,
  base: Base,
  begun: Editing | undefined,
  mayKeep: boolean,
): EditingState {
  const [editing, setEditing] = useState(begun ?? beginAt(base))
  const [kept, setKept] = useState<EditingState['kept']>()
  const unsaved = useRef<Editing | undefined>(undefined)
  const change = useMemo(() => changeIn(base, editing), [base, editing])
  const isBroken = problemOfParameters(editing.typed) !== undefined
  const isEmptied = useRef(false)

  async function save(): Promise<void> {
    const { current } = unsaved
    unsaved.current = undefined
    if (!current || isEmptied.current) return
    const at = new Date().toISOString()
    try {
      if (isChanged(base, current)) await keepDraft(name, { base, editing: current, savedAt: at })
      else await dropDraft(name)
      setKept({ at })
    } catch (error) {
      setKept({ problem: error instanceof Error ? error.message : String(error) })
    }
  }
  const saveNow = useRef(save)
  saveNow.current = save

  useEffect(() => {
    if (!unsaved.current) return undefined
    const timer = setTimeout(() => void saveNow.current(), PAUSE)
    return () => clearTimeout(timer)
  }, [editing])

  useEffect(() => {
    const flush = (): void => void saveNow.current()
    document.addEventListener('visibilitychange', flush)
    window.addEventListener('pagehide', flush)
    return () => {
      flush()
      document.removeEventListener('visibilitychange', flush)
      window.removeEventListener('pagehide', flush)
    }
  }, [])

  useEffect(
    () =>
      onEmptied(() => {
        isEmptied.current = true
        setKept({ problem: 'somebody signed out in another tab.' })
      }),
    [],
  )

  return {
    editing,
    edit: (change) => {
      if (!mayKeep) return
      setEditing((before) => {
        const after = change(before)
        unsaved.current = after
        return after
      })
    },
    isDirty: isBroken || change !== undefined,
    change: isBroken ? undefined : change,
    kept,
    drop: async () => {
      unsaved.current = undefined
      await dropDraft(name)
    },
  }
}

/** An edit as the browser keeps it: with all of its base, so that it can be shown without the server. */
export interface Draft {
  readonly base: Base
  readonly editing: Editing
  readonly savedAt: string
}

/** The draft under a name; undefined where there is none. Rejects where the browser keeps nothing. */
export function readDraft(name: string): Promise<Draft | undefined> {
  return get<Draft>(name, store)
}

/** Keeps a draft in place of the one before. */
function keepDraft(name: string, draft: Draft): Promise<void> {
  return set(name, draft, store)
}

function dropDraft(name: string): Promise<void> {
  return del(name, store)
}

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
