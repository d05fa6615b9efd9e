import { del, get, set } from 'idb-keyval'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { useDraftLock } from '../drafts/draft-lock.ts'
import { onEmptied, draftsKept as store } from '../drafts/drafts-kept.ts'
import { useLive } from '../../shell/live.tsx'
import { type JsonChange, textAt } from '../json-text/json-text.ts'
import { type Base, beginAt, changeIn, type Editing, isChanged, problemOfParameters } from './editing.ts'

/** The draft is saved after this pause in typing, in milliseconds. */
const PAUSE = 400

/** The edit and its draft in the browser. */
export interface EditingState {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly isDirty: boolean
  /** The change to commit; undefined if there is none, or the text is not valid yet. */
  readonly change: JsonChange
  /** When the draft was saved, or why it could not be. */
  readonly kept: { readonly at: string } | { readonly problem: string } | undefined
  /** Deletes the draft. */
  readonly drop: () => Promise<void>
}

/** An edit of `base`, continued from its draft, which is saved under `name` while `mayKeep` (another tab might edit it). */
export function useEditing(
  name: string,
  base: Base,
  begun: Editing | undefined,
  mayKeep: boolean,
): EditingState {
  const [editing, setEditing] = useState(begun ?? beginAt(base))
  const [kept, setKept] = useState<EditingState['kept']>()
  const unsaved = useRef<Editing | undefined>(undefined)
  // The comparison with the base follows the typing, so that a key in a long prompt is shown first.
  const followed = useDeferredValue(editing)
  const change = useMemo(() => changeIn(base, followed), [base, followed])
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

/** A draft in the browser, with all of its base, so that it can be shown without the server. */
export interface Draft {
  readonly base: Base
  readonly editing: Editing
  readonly savedAt: string
}

/** Reads the draft of this name; undefined if there is none. Rejects if the browser cannot store drafts. */
function readDraft(name: string): Promise<Draft | undefined> {
  return get<Draft>(name, store)
}

/** Saves a draft, replacing the previous one. */
export function keepDraft(name: string, draft: Draft): Promise<void> {
  return set(name, draft, store)
}

function dropDraft(name: string): Promise<void> {
  return del(name, store)
}

/** An edit that can begin: the head of its variant, and the draft that is continued. */
export interface DraftStart {
  /** Changes when the edit starts again. */
  readonly turn: string
  readonly head: Base
  /** The draft's base, or the head. */
  readonly base: Base
  readonly begun: Editing | undefined
  readonly isEvaluator: boolean
}

/** The parts of a retrieved revision that an edit or a run needs. */
export interface Stored {
  readonly head: Base
  readonly variant: string
  readonly isEvaluator: boolean
}

/** Loads the latest version of a variant, and the draft of this name once it is known whether this tab may edit it. */
export function useDraftStart(slug: string, variant: string, name: string) {
  const lock = useDraftLock(name)
  // A draft read before another tab held the lock is not shown after it.
  const [turn, setTurn] = useState(0)
  const [read, setRead] = useState<{ readonly turn: string; readonly draft: Draft | undefined }>()
  const wanted = `${name} ${turn} ${String(lock.isHeld)}`
  const answer = useRouteText('POST /workflows/revisions/retrieve', {
    body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant } },
  })
  useLive((event) => {
    if (event === undefined || event.references['workflow_variant']?.slug === variant) void answer.refetch()
  })
  useEffect(() => {
    if (lock.isHeld === undefined) return
    readDraft(name)
      // The editor reports it if the browser cannot store drafts.
      .catch(() => undefined)
      .then((draft) => setRead({ turn: wanted, draft }))
  }, [name, wanted])

  const isRead = read?.turn === wanted
  const stored = useMemo(() => (answer.data === undefined ? undefined : storedIn(answer.data)), [answer.data])
  // What the first save creates has no version to start from, also if somebody else has taken its ID meanwhile.
  const found = (isRead ? unmadeIn(read.draft) : undefined) ?? stored
  const [begunAt, setBegunAt] = useState<{ readonly turn: string; readonly base: Base }>()
  useEffect(() => {
    if (found && isRead && begunAt?.turn !== wanted)
      setBegunAt({ turn: wanted, base: read.draft?.base ?? found.head })
  })
  const start: DraftStart | undefined =
    found && isRead && begunAt?.turn === wanted
      ? { turn: wanted, ...found, base: begunAt.base, begun: read.draft?.editing }
      : undefined
  return {
    start,
    lock,
    error: found || !isRead ? null : answer.error,
    refetch: answer.refetch,
    /** Starts again from the head. */
    again: () => setTurn(turn + 1),
  }
}

/** The start of a draft that nothing was saved of yet. */
function unmadeIn(draft: Draft | undefined): Pick<DraftStart, 'head' | 'isEvaluator'> | undefined {
  const making = draft?.base.making
  return making && { head: draft.base, isEvaluator: making.kind === 'evaluators' }
}

/** Reads the answer of a retrieve, as text. */
export function storedIn(answer: string): Stored {
  const { workflow_revision: revision } = JSON.parse(answer) as {
    readonly workflow_revision: {
      readonly id: string
      readonly version: number | string
      readonly variant_id: string
      readonly variant_slug: string
      readonly flags: { readonly is_evaluator?: boolean }
    }
  }
  return {
    head: {
      revisionId: revision.id,
      version: Number(revision.version),
      variantId: revision.variant_id,
      text: textAt(answer, ['workflow_revision', 'data']) ?? '{}',
    },
    variant: revision.variant_slug,
    isEvaluator: revision.flags.is_evaluator === true,
  }
}
