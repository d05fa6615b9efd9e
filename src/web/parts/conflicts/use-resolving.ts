import { del, get, set } from 'idb-keyval'
import { useEffect, useMemo, useState } from 'react'
import { unfinishedKept } from '../drafts/drafts-kept.ts'
import {
  type Block,
  type Conflict,
  type Conflicted,
  conflictedOf,
  type Decision,
  problemOf,
  type Resolution,
  resolutionOf,
} from './conflict-texts.ts'

/** The part of a merge's answer that lists its conflicts. */
export interface MergeConflicts {
  readonly conflicts: readonly Conflict[]
  /** The list ends at 1,000 (interface 6.15). */
  readonly truncated?: boolean | undefined
  /** The number of all conflicts, beside `truncated`. */
  readonly total?: number | undefined
}

/** Conflicts with what was decided about them so far. */
export interface Resolving {
  readonly conflicted: readonly Conflicted[]
  /** All that is to be decided, in order. */
  readonly blocks: readonly Block[]
  readonly decisions: ReadonlyMap<string, Decision>
  /** Decides a block; undefined opens it again. */
  readonly decide: (block: Block, decision: Decision | undefined) => void
  /** Takes one side of everything that is still open, listed or not. */
  readonly decideRest: (side: 'target' | 'source') => void
  readonly startOver: () => void
  /** What was typed for this place before one of its sides changed. */
  readonly typedBefore: (block: Block) => string | undefined
  /** The side of the conflicts that are not listed. */
  readonly rest: 'target' | 'source' | undefined
  /** How many conflicts are not listed; "more" if the server did not count them. */
  readonly unlisted: number | 'more' | undefined
  /** How many are still to be decided. */
  readonly left: number
  /** The resolutions to send; only once none is left. */
  readonly resolutions: () => readonly Resolution[]
  /** Forgets what was kept in the browser. */
  readonly forget: () => void
}

interface Kept {
  readonly decisions: ReadonlyMap<string, Decision>
  readonly rest: 'target' | 'source' | undefined
}

const NONE: Kept = { decisions: new Map(), rest: undefined }
const NO_CONFLICTS: readonly Conflict[] = []

/**
 * Collects decisions about conflicts. If the conflicts change because a side moved, the decisions about those that stayed the same are kept. With a
 * `name`, they also survive a reload of the page.
 */
export function useResolving(merge: MergeConflicts | undefined, name?: string): Resolving {
  const conflicts = merge?.conflicts ?? NO_CONFLICTS
  const conflicted = useMemo(() => conflicts.map(conflictedOf), [conflicts])
  const blocks = useMemo(
    () => conflicted.flatMap(({ parts }) => parts.filter((it): it is Block => typeof it !== 'string')),
    [conflicted],
  )
  const [kept, keep] = useKept(name)
  const { decisions, rest } = kept
  const unlisted =
    merge?.truncated === true
      ? merge.total === undefined
        ? 'more'
        : merge.total - conflicts.length
      : undefined
  const isOpen = (block: Block): boolean =>
    !decisions.has(block.key) || problemOf(block, decisions.get(block.key)) !== undefined
  const open = useMemo(() => blocks.filter(isOpen), [blocks, decisions])
  const hidden = unlisted === undefined || rest !== undefined ? 0 : unlisted === 'more' ? 1 : unlisted
  return {
    conflicted,
    blocks,
    decisions,
    decide: (block, decision) =>
      keep((before) => {
        const after = new Map(before.decisions)
        if (decision) after.set(block.key, decision)
        else after.delete(block.key)
        return { ...before, decisions: after }
      }),
    decideRest: (side) =>
      keep((before) => ({
        decisions: new Map([...before.decisions, ...open.map(({ key }) => [key, { take: side }] as const)]),
        rest: unlisted === undefined ? before.rest : side,
      })),
    startOver: () => keep(() => NONE),
    typedBefore: (block) => {
      const place = placeKey(block.key)
      const found = [...decisions].findLast(
        ([key, it]) => 'text' in it && key !== block.key && placeKey(key) === place,
      )
      return found && 'text' in found[1] ? found[1].text : undefined
    },
    rest,
    unlisted,
    left: open.length + hidden,
    resolutions: () => [
      ...conflicted.map((it) => resolutionOf(it, decisions)),
      ...(unlisted !== undefined && rest !== undefined ? [{ all: rest }] : []),
    ],
    forget: () => {
      keep(() => NONE)
      if (name !== undefined) void del(name, unfinishedKept).catch(() => undefined)
    },
  }
}

/** The part of a block's key that stays if its texts change. */
function placeKey(key: string): string {
  const [place, side] = JSON.parse(key.slice(0, key.lastIndexOf(']') + 1)) as readonly unknown[]
  return JSON.stringify([place, side])
}

function useKept(name: string | undefined) {
  const [kept, setKept] = useState(NONE)
  useEffect(() => {
    if (name === undefined) return undefined
    let isHere = true
    void get<Kept>(name, unfinishedKept)
      // What was decided meanwhile is newer.
      .then((it) => isHere && it && setKept((now) => (now === NONE ? it : now)))
      .catch(() => undefined)
    return () => {
      isHere = false
    }
  }, [name])
  const keep = (change: (before: Kept) => Kept): void =>
    setKept((before) => {
      const after = change(before)
      if (name !== undefined && after !== NONE) void set(name, after, unfinishedKept).catch(() => undefined)
      return after
    })
  return [kept, keep] as const
}
