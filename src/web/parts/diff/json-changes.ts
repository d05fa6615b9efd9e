import { ExactNumber } from '../../api/json.ts'
import type { Message } from '../conversation/conversation.tsx'
import {
  pairInOrder,
  matchesOf,
  type LineDiff,
  lineDiff,
  likeness,
  longestRising,
  wordsOf,
} from './line-diff.ts'

/** A value that only one side has, or that differs. */
export interface FieldChange {
  /** `parameters.prompt.llm_config.temperature`, `tools[2]` */
  readonly place: string
  readonly base?: unknown
  readonly head?: unknown
  readonly kind: 'added' | 'removed' | 'changed'
}

export interface TextChange {
  readonly place: string
  readonly lines: LineDiff
}

interface MessagesChange {
  readonly place: string
  readonly messages: readonly MessageChange[]
}

/** The changes between two JSON values, by place: conversations message by message, long texts line by line, other values as old and new. */
export interface JsonChanges {
  readonly conversations: readonly MessagesChange[]
  readonly texts: readonly TextChange[]
  readonly fields: readonly FieldChange[]
}

/** Deeper values are compared as a whole. */
const DEEPEST = 60
/** Texts of one line are compared word by word from this length on. */
const LONG_TEXT = 80

/** Compares two values; undefined means that there is none. */
export function jsonChanges(base: unknown, head: unknown, place = ''): JsonChanges {
  const changes = {
    conversations: [] as MessagesChange[],
    texts: [] as TextChange[],
    fields: [] as FieldChange[],
  }
  collect(base, head, place, 0, changes)
  return changes
}

type Collected = {
  readonly conversations: MessagesChange[]
  readonly texts: TextChange[]
  readonly fields: FieldChange[]
}

function collect(base: unknown, head: unknown, place: string, depth: number, into: Collected): void {
  if (base === head) return
  if (isMessages(base, head)) {
    const messages = messageChanges((base ?? []) as readonly Message[], (head ?? []) as readonly Message[])
    if (messages.some(({ kind, movedFrom }) => kind !== 'same' || movedFrom !== undefined))
      into.conversations.push({ place, messages })
  } else if (isLongText(base ?? head) && isLongText(head ?? base)) {
    into.texts.push({ place, lines: lineDiff(base as string | undefined, head as string | undefined) })
  } else if (typeof base === 'string' && typeof head === 'string' && (isLongText(base) || isLongText(head))) {
    into.texts.push({ place, lines: lineDiff(base, head) })
  } else if (
    depth < DEEPEST &&
    isPlain(base ?? head) &&
    isPlain(head ?? base) &&
    (isBoth(base, head) || holdsText(base ?? head))
  ) {
    collectMembers(base ?? {}, head ?? {}, place, depth, into)
  } else if (depth < DEEPEST && Array.isArray(base) && Array.isArray(head)) {
    collectElements(base, head, place, depth, into)
  } else if (base === undefined || head === undefined || JSON.stringify(base) !== JSON.stringify(head)) {
    const kind = base === undefined ? 'added' : head === undefined ? 'removed' : 'changed'
    into.fields.push({ place, base, head, kind })
  }
}

function collectMembers(base: object, head: object, place: string, depth: number, into: Collected): void {
  const [left, right] = [new Map(Object.entries(base)), new Map(Object.entries(head))]
  for (const name of new Set([...right.keys(), ...left.keys()])) {
    collect(left.get(name), right.get(name), placeOf(place, name), depth + 1, into)
  }
}

function collectElements(
  base: readonly unknown[],
  head: readonly unknown[],
  place: string,
  depth: number,
  into: Collected,
): void {
  const [left, right] = [base.map(nameOf), head.map(nameOf)]
  let [baseAt, headAt] = [0, 0]
  for (const [i, j] of [...matchesOf(left, right), [base.length, head.length] as const]) {
    const pairs = pairInOrder(left.slice(baseAt, i), right.slice(headAt, j))
    for (const [l, r] of pairs)
      collect(base[baseAt + l], head[headAt + r], `${place}[${headAt + r}]`, depth + 1, into)
    const [inPair, withPair] = [new Set(pairs.map(([l]) => l)), new Set(pairs.map(([, r]) => r))]
    for (let at = baseAt; at < i; at++)
      if (!inPair.has(at - baseAt)) collect(base[at], undefined, `${place}[${at}]`, depth + 1, into)
    for (let at = headAt; at < j; at++)
      if (!withPair.has(at - headAt)) collect(undefined, head[at], `${place}[${at}]`, depth + 1, into)
    // Elements with the same name may differ inside.
    if (i < base.length) collect(base[i], head[j], `${place}[${j}]`, depth + 1, into)
    ;[baseAt, headAt] = [i + 1, j + 1]
  }
}

/** The name that identifies an element of an array in both sides: of a tool its name, otherwise all of its JSON. */
function nameOf(value: unknown): string {
  if (!isPlain(value)) return JSON.stringify(value)
  const { id, key, slug, name, function: tool } = value as Readonly<Record<string, unknown>>
  const known =
    id ?? key ?? slug ?? name ?? (isPlain(tool) ? (tool as { readonly name?: unknown }).name : undefined)
  return typeof known === 'string' ? `name ${known}` : JSON.stringify(value)
}

function placeOf(place: string, name: string): string {
  if (/^[\w-]+$/.test(name)) return place === '' ? name : `${place}.${name}`
  return `${place}[${JSON.stringify(name)}]`
}

function isBoth(base: unknown, head: unknown): boolean {
  return base !== undefined && head !== undefined
}

function isPlain(value: unknown): value is object {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber)
  )
}

function isLongText(value: unknown): value is string {
  return typeof value === 'string' && (value.length >= LONG_TEXT || value.includes('\n'))
}

/** Whether both sides are messages of a prompt, or one is and the other is missing. */
function isMessages(base: unknown, head: unknown): boolean {
  const lists = [base ?? [], head ?? []]
  return (
    lists.every(
      (it) =>
        Array.isArray(it) && it.every((element) => typeof (element as Message | null)?.role === 'string'),
    ) && lists.some((it) => (it as readonly unknown[]).length > 0)
  )
}

/** Whether a new value reads better in parts: a prompt has messages. */
function holdsText(value: unknown, depth = 0): boolean {
  if (isMessages(value, undefined) || isLongText(value)) return true
  return depth < 4 && isPlain(value) && Object.values(value).some((member) => holdsText(member, depth + 1))
}

/** The change of a message of a prompt. */
export interface MessageChange {
  readonly kind: 'same' | 'changed' | 'added' | 'removed'
  readonly base?: Message
  readonly head?: Message
  /** Its places, from 0. */
  readonly baseAt?: number
  readonly headAt?: number
  /** Its old place, if it moved past messages that stayed. */
  readonly movedFrom?: number
}

/** From this similarity on, two messages are the same one, changed. */
const ALIKE = 0.4
/** More pairs than this are not compared. */
const MOST_PAIRS = 40_000

/** Matches the messages of two prompts by what they say, wherever they are; in the order of the head. */
function messageChanges(base: readonly Message[], head: readonly Message[]): readonly MessageChange[] {
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
    // Removed messages are shown before the next message that stayed.
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

/** For each message of the head, the index of its match in the base. */
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
    // Among equal messages, one at the same place has not moved.
    const same =
      texts[headAt] === text && free.has(headAt) ? headAt : [...free].find((at) => texts[at] === text)
    if (same !== undefined) take(same, headAt)
  }
  for (const { baseAt, headAt } of alikeFirst(base, head, free, matched)) {
    if (free.has(baseAt) && matched[headAt] === undefined) take(baseAt, headAt)
  }
  // A rewritten message still matches the one of the same role at its place.
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
