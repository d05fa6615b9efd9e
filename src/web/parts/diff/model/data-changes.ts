import type { Message } from '../../conversation/conversation.tsx'
import { type FieldChange, type JsonChanges, jsonChanges, type TextChange } from './json-changes.ts'
import { type LineDiff, lineDiff } from './line-diff.ts'
import type { MessageChange } from './message-changes.ts'

/** A message with what changed inside it. */
export interface MessageDiff extends MessageChange {
  /** Its text, line by line; undefined where it holds no text, or did not change. */
  readonly lines?: LineDiff
  /** Everything else of it, but for the role. */
  readonly inner: JsonChanges
}

/** What changed between the payloads of two revisions, ready to be drawn. */
export interface DataChanges {
  readonly conversations: readonly { readonly place: string; readonly messages: readonly MessageDiff[] }[]
  readonly texts: readonly TextChange[]
  readonly fields: readonly FieldChange[]
  /** Places to step to. */
  readonly changes: number
  /** In words: `2 messages changed, 1 moved · 3 values`. */
  readonly summary: string
  readonly added: number
  readonly removed: number
}

/** Compares two payloads; one that is undefined is not there. */
export function dataChanges(base: unknown, head: unknown): DataChanges {
  const { conversations, texts, fields } = jsonChanges(base, head)
  const drawn = conversations.map(({ place, messages }) => ({ place, messages: messages.map(messageDiff) }))
  const messages = drawn.flatMap((it) => it.messages)
  const lines = [...texts, ...messages.flatMap(({ inner }) => inner.texts)].map((it) => it.lines)
  for (const message of messages) if (message.lines) lines.push(message.lines)
  const sum = (count: (it: LineDiff) => number): number => lines.reduce((all, it) => all + count(it), 0)
  const innerFields = messages.flatMap(({ inner }) => inner.fields)
  return {
    conversations: drawn,
    texts,
    fields,
    changes:
      sum(({ changes }) => changes) +
      fields.length +
      innerFields.length +
      messages.filter(({ kind, movedFrom }) => kind === 'same' && movedFrom !== undefined).length,
    summary: summaryOf(messages, texts.length, fields.length),
    added: sum(({ added }) => added),
    removed: sum(({ removed }) => removed),
  }
}

function messageDiff(change: MessageChange): MessageDiff {
  const { kind, base, head } = change
  if (kind === 'same') return { ...change, inner: { conversations: [], texts: [], fields: [] } }
  const isText = [base, head].every((it) => it === undefined || typeof it.content === 'string')
  const rest = (message: Message | undefined): object | undefined => {
    if (message === undefined) return undefined
    const { role: _role, content, ...others } = message
    return isText ? others : { content, ...others }
  }
  const inner = jsonChanges(rest(base) ?? {}, rest(head) ?? {})
  if (!isText || base?.content === head?.content) return { ...change, inner }
  return { ...change, inner, lines: lineDiff(textOf(base), textOf(head)) }
}

function textOf(message: Message | undefined): string | undefined {
  return message === undefined ? undefined : (message.content as string)
}

function summaryOf(messages: readonly MessageDiff[], texts: number, fields: number): string {
  const count = (kind: string): number => messages.filter((it) => it.kind === kind).length
  const moved = messages.filter(({ movedFrom }) => movedFrom !== undefined).length
  const parts = [
    [count('changed'), 'changed'],
    [count('added'), 'added'],
    [count('removed'), 'removed'],
    [moved, 'moved'],
  ].filter(([many]) => many !== 0)
  const words = parts.map(
    ([many, what], at) => `${many} ${at === 0 ? `${many === 1 ? 'message' : 'messages'} ` : ''}${what}`,
  )
  return [
    words.join(', '),
    texts > 0 ? `${texts} ${texts === 1 ? 'text' : 'texts'}` : '',
    fields > 0 ? `${fields} ${fields === 1 ? 'value' : 'values'}` : '',
  ]
    .filter((it) => it !== '')
    .join(' · ')
}
