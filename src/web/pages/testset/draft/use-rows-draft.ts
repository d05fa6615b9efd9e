import { get } from 'idb-keyval'
import { useEffect, useMemo, useRef, useState } from 'react'
import { parseJson } from '../../../api/json.ts'
import { draftsKept } from '../../../parts/drafts/drafts-kept.ts'
import { useKeeping } from '../../../parts/drafts/use-keeping.ts'
import {
  type Cells,
  countsOf,
  type DraftCounts,
  isNothing,
  type RowId,
  type RowsDraft,
  unchanged,
} from './rows-draft.ts'

/** The revision under a draft. */
export interface RowsBase {
  /** Undefined for a testset without a version. */
  readonly id: string | undefined
  readonly version: number
  readonly variantId: string
  readonly variantSlug: string
  readonly total: number
  readonly columns: readonly string[]
}

/** A draft as this browser keeps it. */
export interface KeptRows {
  readonly base: RowsBase
  readonly draft: RowsDraft
  /** What was sent to the server without an answer. */
  readonly attempt?: Attempt | undefined
}

/** A try to save: the same request with the same key is done once. */
export interface Attempt {
  readonly key: string
  readonly text: string
  readonly message: string
  /** The id of the variant that it was saved on, to be merged. */
  readonly aside?: string
}

/** A draft of rows while it is edited. */
export interface RowsDraftState {
  readonly draft: RowsDraft
  readonly counts: DraftCounts
  readonly isDirty: boolean
  /** Replaces the draft by what `change` makes of it; can be undone. */
  readonly change: (change: (draft: RowsDraft) => RowsDraft) => void
  readonly undo: (() => void) | undefined
  readonly redo: (() => void) | undefined
  /** Whether the browser keeps the draft as it is now. */
  readonly isKept: boolean
  /** Why the browser could not keep the draft; undefined if it could. */
  readonly problem: string | undefined
  /** What was sent to the server without an answer. */
  readonly attempt: Attempt | undefined
  /** Remembers what is about to be sent. */
  readonly attempting: (attempt: Attempt) => Promise<void>
  /**
   * Deletes the draft, which was saved; resolves once the newer version is shown. What was edited since it was sent stays a draft of the same base:
   * saving merges it.
   */
  readonly saved: () => Promise<void>
  /** Whether the draft was saved, and the newer version is not shown yet. */
  readonly isSaved: boolean
  /** Gives all changes up. */
  readonly discard: () => Promise<void>
}

/** A draft is kept at once; one that changes many rows after this pause, in milliseconds. */
const PAUSE = 400

/** The most rows that a draft changes to be kept at once. */
const FEW_ROWS = 2000

/** The most changed rows in all states that can be undone to, since each state lists those it changed. */
const MOST_UNDONE = 2_000_000

interface History {
  /** The base's id. */
  readonly of: string | undefined
  readonly draft: RowsDraft
  readonly past: readonly RowsDraft[]
  readonly future: readonly RowsDraft[]
}

/**
 * Edits a draft of `base`, which the browser keeps under `name` while `mayKeep` (another tab might edit it). Another base begins another draft: it
 * may change only while there are no changes.
 */
export function useRowsDraft(
  name: string,
  base: RowsBase,
  begun: KeptRows | undefined,
  mayKeep: boolean,
): RowsDraftState {
  const [history, setHistory] = useState<History>(() => begunAt(base, begun?.draft))
  const [attempt, setAttempt] = useState(begun?.attempt)
  const [isSaved, setSaved] = useState(false)
  const newest = useRef(history)
  const arrived = useRef<() => void>(undefined)
  if (history.of !== base.id) {
    show(begunAt(base))
    setSaved(false)
    setAttempt(undefined)
  }
  useEffect(() => arrived.current?.(), [base.id])
  const { draft, past, future } = history
  const counts = useMemo(() => countsOf(draft, base.total, base.columns), [draft, base])
  const { kept, problem, keepSoon, keepNow, drop } = useKeeping(name, textOf, begun)

  function show(history: History): void {
    newest.current = history
    setHistory(history)
  }

  function step(to: (before: History) => History): void {
    if (!mayKeep || isSaved) return
    const after = to(newest.current)
    if (after === newest.current) return
    show(after)
    keepSoon({ base, draft: after.draft, attempt }, after.draft.cells.size > FEW_ROWS ? PAUSE : 0)
  }

  return {
    draft,
    counts,
    isDirty: !isNothing(counts) && !isSaved,
    change: (change) =>
      step((before) => {
        const after = change(before.draft)
        if (after === before.draft) return before
        return { ...before, draft: after, past: affordable([...before.past, before.draft]), future: [] }
      }),
    undo: past.length === 0 ? undefined : () => step(undone),
    redo: future.length === 0 ? undefined : () => step(redone),
    isKept: kept?.draft === draft,
    problem,
    attempt,
    attempting: async (sent) => {
      setAttempt(sent)
      await keepNow({ base, draft, attempt: sent })
    },
    saved: async () => {
      if (newest.current.draft !== draft) return
      const shown = new Promise<void>((resolve) => (arrived.current = resolve))
      setSaved(true)
      await drop()
      await shown
    },
    isSaved,
    discard: async () => {
      show(begunAt(base))
      setAttempt(undefined)
      await drop()
    },
  }
}

function begunAt({ id, total, columns }: RowsBase, draft = unchanged(total, columns)): History {
  return { of: id, draft, past: [], future: [] }
}

function undone(now: History): History {
  const before = now.past.at(-1)
  if (!before) return now
  return { ...now, draft: before, past: now.past.slice(0, -1), future: [now.draft, ...now.future] }
}

function redone(now: History): History {
  const [after, ...future] = now.future
  return after ? { ...now, draft: after, past: [...now.past, now.draft], future } : now
}

/** The newest states whose changed rows are not too many together. */
function affordable(past: readonly RowsDraft[]): readonly RowsDraft[] {
  let sum = 0
  const from = past.findLastIndex(({ cells }) => (sum += cells.size) > MOST_UNDONE)
  return from < 0 ? past : past.slice(from + 1)
}

/** Reads the draft of this name; undefined if there is none. Rejects if the browser cannot keep drafts. */
export async function readRows(name: string): Promise<KeptRows | undefined> {
  const text = await get<string>(name, draftsKept)
  if (text === undefined) return undefined
  const { draft, ...rest } = parseJson(text) as Omit<KeptRows, 'draft'> & {
    readonly draft: Omit<RowsDraft, 'cells'> & { readonly cells: readonly WrittenRow[] }
  }
  const cells = new Map<RowId, Cells>()
  for (const [id, row] of draft.cells)
    cells.set(id, new Map(row.map((cell) => [cell[0], cell.length > 1 ? cell[1] : undefined])))
  return { ...rest, draft: { ...draft, cells } }
}

/** A changed row as it is kept; a removed cell is its column alone. */
type WrittenRow = readonly [id: RowId, cells: readonly (readonly [key: string, value?: unknown])[]]

/** Kept as JSON text: the browser's own copies would change numbers that JavaScript cannot hold. Undefined if nothing is changed. */
function textOf({ base, draft, attempt }: KeptRows): string | undefined {
  if (isNothing(countsOf(draft, base.total, base.columns))) return undefined
  const cells: WrittenRow[] = []
  for (const [id, row] of draft.cells)
    cells.push([id, [...row].map(([key, value]) => (value === undefined ? [key] : [key, value]))])
  return JSON.stringify({ base, draft: { ...draft, cells }, attempt })
}
