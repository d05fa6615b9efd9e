import { useEffect, useMemo, useRef, useState } from 'react'
import type { JsonChange } from '../../../parts/json-text/json-text.ts'
import { onEmptied } from '../../../parts/drafts/drafts-kept.ts'
import { dropDraft, keepDraft } from './draft-store.ts'
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
