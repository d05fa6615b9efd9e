import { ExactNumber } from '../../../api/exact-json.ts'
import { pairInOrder, matchesOf } from './align.ts'
import { type LineDiff, lineDiff } from './line-diff.ts'
import type { Message } from '../../conversation/conversation.tsx'
import { type MessageChange, messageChanges } from './message-changes.ts'

/** What stands at a place of only one side, or of both and differs. */
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

export interface MessagesChange {
  readonly place: string
  readonly messages: readonly MessageChange[]
}

/** What changed between two JSON values, by place: conversations message by message, long texts line by line, everything else as old and new. */
export interface JsonChanges {
  readonly conversations: readonly MessagesChange[]
  readonly texts: readonly TextChange[]
  readonly fields: readonly FieldChange[]
}

/** Deeper than this, a change is shown as a whole. */
const DEEPEST = 60
/** A text of one line is compared word by word from this length on. */
const LONG_TEXT = 80

/** Compares two values; one that is undefined is not there. */
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
    // What goes by the same name may differ inside.
    if (i < base.length) collect(base[i], head[j], `${place}[${j}]`, depth + 1, into)
    ;[baseAt, headAt] = [i + 1, j + 1]
  }
}

/** What an element of an array is known by, in both sides: the name of a tool, or all that it is. */
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

/** Whether both sides are messages of a prompt, or one is and the other has none. */
function isMessages(base: unknown, head: unknown): boolean {
  const lists = [base ?? [], head ?? []]
  return (
    lists.every(
      (it) =>
        Array.isArray(it) && it.every((element) => typeof (element as Message | null)?.role === 'string'),
    ) && lists.some((it) => (it as readonly unknown[]).length > 0)
  )
}

/** Whether something that is new as a whole reads better in parts: a prompt has its messages. */
function holdsText(value: unknown, depth = 0): boolean {
  if (isMessages(value, undefined) || isLongText(value)) return true
  return depth < 4 && isPlain(value) && Object.values(value).some((member) => holdsText(member, depth + 1))
}
