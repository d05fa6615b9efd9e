import { get, set } from 'idb-keyval'
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { useDraftLock } from '../drafts/draft-lock.ts'
import { draftsKept } from '../drafts/drafts-kept.ts'
import { useKeeping } from '../drafts/use-keeping.ts'
import { useLive } from '../../shell/live.tsx'
import { type JsonChange, textAt } from '../json-text/json-text.ts'
import { type Base, beginAt, changeIn, type Editing, isChanged, problemOfParameters } from './editing.ts'

/** The draft is saved after this pause in typing, in milliseconds. */
const PAUSE = 400

/** The edit and its draft in the browser. */
export interface EditingState {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  /** Whether there are changes; also while that is not known yet. */
  readonly isDirty: boolean
  /** The change to commit; undefined if there is none, or the text is not valid yet. */
  readonly change: JsonChange
  /** For somebody who asks to save: makes `change` that of what was typed last, at once; whether there is one. */
  readonly settle: () => boolean
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
  // A key that saves may come before what was typed last is drawn.
  const newest = useRef(editing)
  // The comparison with the base follows the typing, so that a key in a long prompt is shown first.
  const followed = useDeferredValue(editing)
  const [settled, setSettled] = useState(editing)
  const compared = settled === editing ? editing : followed
  const change = useMemo(() => changeIn(base, compared), [base, compared])
  const isBroken = problemOfParameters(editing.typed) !== undefined
  const { kept, problem, keepSoon, drop } = useKeeping(name, (draft: Draft) =>
    isChanged(draft.base, draft.editing) ? draft : undefined,
  )
  return {
    editing,
    edit: (change) => {
      if (!mayKeep) return
      newest.current = change(newest.current)
      setEditing(newest.current)
      keepSoon({ base, editing: newest.current, savedAt: new Date().toISOString() }, PAUSE)
    },
    isDirty: isBroken || compared !== editing || change !== undefined,
    change: isBroken ? undefined : change,
    settle: () => {
      setSettled(newest.current)
      return changeIn(base, newest.current) !== undefined
    },
    kept: problem === undefined ? kept && { at: kept.savedAt } : { problem },
    drop,
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
  return get<Draft>(name, draftsKept)
}

/** Saves a draft, replacing the previous one. */
export function keepDraft(name: string, draft: Draft): Promise<void> {
  return set(name, draft, draftsKept)
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
