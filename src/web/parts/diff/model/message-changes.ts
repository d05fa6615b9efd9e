import type { Message } from '../../conversation/conversation.tsx'
import { likeness, longestRising, wordsOf } from './align.ts'

/** What became of a message of a prompt. */
export interface MessageChange {
  readonly kind: 'same' | 'changed' | 'added' | 'removed'
  readonly base?: Message
  readonly head?: Message
  /** Its places, from 0. */
  readonly baseAt?: number
  readonly headAt?: number
  /** Where it was, if others that stayed are now on the other side of it. */
  readonly movedFrom?: number
}

/** Messages are the same one, changed, from this likeness on. */
const ALIKE = 0.4
/** More pairs than this are not weighed against each other. */
const MOST_PAIRS = 40_000

/** Tells which messages of a prompt are which of another one by what they say, wherever they stand; in the order of the head. */
export function messageChanges(base: readonly Message[], head: readonly Message[]): readonly MessageChange[] {
  const matched = matchedMessages(base, head)
  const staying = new Set(longestRising(matched))
  const changes: MessageChange[] = []
  const removed = base.flatMap((message, baseAt) =>
    matched.includes(baseAt) ? [] : [{ kind: 'removed', base: message, baseAt } as const],
  )
  for (const [headAt, message] of head.entries()) {
    const baseAt = matched[headAt]
    const before = baseAt === undefined ? undefined : base[baseAt]
    if (baseAt === undefined || before === undefined) {
      changes.push({ kind: 'added', head: message, headAt })
      continue
    }
    // What was removed is shown before the first message that stood behind it and stays.
    while (staying.has(headAt) && removed[0] && removed[0].baseAt < baseAt)
      for (const before of removed.splice(0, 1)) changes.push(before)
    const kind = textOf(before) === textOf(message) ? 'same' : 'changed'
    changes.push({
      kind,
      base: before,
      head: message,
      baseAt,
      headAt,
      ...(staying.has(headAt) ? {} : { movedFrom: baseAt }),
    })
  }
  return [...changes, ...removed]
}

/** For each message of the head the place of the same one in the base. */
function matchedMessages(
  base: readonly Message[],
  head: readonly Message[],
): readonly (number | undefined)[] {
  const matched: (number | undefined)[] = head.map(() => undefined)
  const free = new Set(base.keys())
  const take = (baseAt: number, headAt: number): void => {
    matched[headAt] = baseAt
    free.delete(baseAt)
  }
  const texts = base.map(textOf)
  for (const [headAt, message] of head.entries()) {
    const text = textOf(message)
    // Of equal ones, the one at the same place has not moved.
    const same =
      texts[headAt] === text && free.has(headAt) ? headAt : [...free].find((at) => texts[at] === text)
    if (same !== undefined) take(same, headAt)
  }
  for (const { baseAt, headAt } of alikeFirst(base, head, free, matched)) {
    if (free.has(baseAt) && matched[headAt] === undefined) take(baseAt, headAt)
  }
  // One that was rewritten is still the system message of this place.
  for (const [headAt, { role }] of head.entries()) {
    if (matched[headAt] === undefined && free.has(headAt) && base[headAt]?.role === role) take(headAt, headAt)
  }
  return matched
}

function alikeFirst(
  base: readonly Message[],
  head: readonly Message[],
  free: ReadonlySet<number>,
  matched: readonly (number | undefined)[],
): readonly { readonly baseAt: number; readonly headAt: number; readonly score: number }[] {
  const open = [...head.keys()].filter((at) => matched[at] === undefined)
  if (open.length * free.size > MOST_PAIRS) return []
  const words = new Map([...free].map((at) => [at, wordsOf(textOf(base[at]))]))
  return open
    .flatMap((headAt) => {
      const mine = wordsOf(textOf(head[headAt]))
      return [...words].map(([baseAt, others]) => ({ baseAt, headAt, score: likeness(mine, others) }))
    })
    .filter(({ score }) => score >= ALIKE)
    .sort((a, b) => b.score - a.score || Math.abs(a.baseAt - a.headAt) - Math.abs(b.baseAt - b.headAt))
}

function textOf(message: Message | undefined): string {
  return JSON.stringify(message)
}
