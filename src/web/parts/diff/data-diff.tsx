import { type ReactNode, useMemo, useState } from 'react'
import { DiffFrame } from './diff-frame.tsx'
import styles from './diff.module.css'
import { LineTable, LineText } from './lines.tsx'
import { visible } from '../text/text.tsx'
import { lineDiff, type LineDiff, wordMarks } from './line-diff.ts'
import { ExactNumber } from '../../api/json.ts'
import { JsonView } from '../json/json-view.tsx'
import {
  type FieldChange,
  type JsonChanges,
  jsonChanges,
  type TextChange,
  type MessageChange,
} from './json-changes.ts'
import type { Message } from '../conversation/conversation.tsx'

export interface DataDiffProps {
  /** The old payload; undefined if there was none. */
  readonly base: unknown
  readonly head: unknown
  /** Other views of the comparison. */
  readonly views?: ReactNode
  /** The text shown if nothing changed. */
  readonly same?: ReactNode
}

/** The changes between two payloads: prompts message by message, long texts line by line, other values by place. */
export function DataDiff({ base, head, views, same = 'Nothing changed.' }: DataDiffProps) {
  const { conversations, texts, fields, summary, added, removed } = useMemo(
    () => dataChanges(base, head),
    [base, head],
  )
  const isSame = summary === ''
  return (
    <DiffFrame
      views={views}
      summary={
        isSame ? (
          'No change'
        ) : (
          <>
            {summary}
            {added + removed > 0 && <LineCounts added={added} removed={removed} />}
          </>
        )
      }
    >
      {isSame && <div className={styles.same}>{same}</div>}
      {conversations.map(({ place, messages }) => (
        <div key={place}>
          <h2 className={styles.heading}>
            Messages <code dir="auto">{visible(place)}</code>
          </h2>
          <MessageDiffs messages={messages} />
        </div>
      ))}
      {texts.map(({ place, lines }) => (
        <div key={place}>
          <h2 className={styles.heading}>
            Text <code dir="auto">{visible(place)}</code>
          </h2>
          <div className={styles.framed}>
            <LineTable label={place} diff={lines} prose />
          </div>
        </div>
      ))}
      {fields.length > 0 && (
        <div>
          <h2 className={styles.heading}>Values</h2>
          <FieldChanges label="Values that changed" fields={fields} />
        </div>
      )}
    </DiffFrame>
  )
}

/** `+12 −3 lines` */
export function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className={styles.counts}>
      <span className={styles.plus}>+{added.toLocaleString()}</span>{' '}
      <span className={styles.minus}>−{removed.toLocaleString()}</span> lines
    </span>
  )
}

interface MessageDiffsProps {
  readonly messages: readonly MessageDiff[]
}

const PAGE = 100

/** The changed messages of a prompt as cards; unchanged ones are folded. */
function MessageDiffs({ messages }: MessageDiffsProps) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set())
  const [shown, setShown] = useState(PAGE)
  const groups = groupsOf(messages, open)
  return (
    <ol className={styles.messages}>
      {groups.slice(0, shown).map(({ from, items }) =>
        items.length === 0 || !isQuiet(items[0]) || open.has(from) ? (
          items.map((message, at) => <MessageCard key={`${from} ${at}`} message={message} />)
        ) : (
          <li key={from}>
            <button
              type="button"
              className={styles.folded}
              onClick={() => setOpen((before) => new Set(before).add(from))}
            >
              {items.length === 1 ? '1 message' : `${items.length.toLocaleString()} messages`} unchanged
            </button>
          </li>
        ),
      )}
      {groups.length > shown && (
        <li>
          <button type="button" className={styles.folded} onClick={() => setShown(shown + PAGE)}>
            show more
          </button>
        </li>
      )}
    </ol>
  )
}

/** A changed message, or a run of unchanged ones. */
interface Group {
  readonly from: number
  readonly items: readonly MessageDiff[]
}

function groupsOf(messages: readonly MessageDiff[], open: ReadonlySet<number>): readonly Group[] {
  const groups: Group[] = []
  for (const [at, message] of messages.entries()) {
    const last = groups.at(-1)
    if (last && isQuiet(message) && isQuiet(last.items[0]) && !open.has(at)) {
      groups[groups.length - 1] = { ...last, items: [...last.items, message] }
    } else {
      groups.push({ from: at, items: [message] })
    }
  }
  return groups
}

function isQuiet(message: MessageDiff | undefined): boolean {
  return message?.kind === 'same' && message.movedFrom === undefined
}

function MessageCard({ message }: { readonly message: MessageDiff }) {
  const { kind, base, head, baseAt, headAt, movedFrom, lines, inner } = message
  const role = head?.role ?? base?.role ?? ''
  const number = (headAt ?? baseAt ?? 0) + 1
  const label = `Message ${number}, ${visible(role)}`
  const isMoved = movedFrom !== undefined
  const content = head?.content
  return (
    <li className={styles.card} data-kind={kind} aria-label={`${label}: ${kind}`}>
      <header data-change={(isMoved && kind === 'same') || undefined}>
        <h3>
          {base && head && base.role !== head.role && (
            <>
              <del>{visible(base.role)}</del> →{' '}
            </>
          )}
          {visible(role)}
        </h3>
        <span>message {number}</span>
        {(kind !== 'same' || !isMoved) && (
          <span className={styles.badge}>{kind === 'same' ? 'unchanged' : kind}</span>
        )}
        {isMoved && (
          <span className={styles.moved}>
            moved from {movedFrom + 1} to {number}
          </span>
        )}
      </header>
      {lines && <LineTable label={label} diff={lines} prose />}
      {kind === 'same' && typeof content === 'string' && (
        <LineTable label={label} diff={lineDiff(content, content)} prose />
      )}
      {inner.texts.map((text) => (
        <div key={text.place}>
          <h4 dir="auto">{visible(text.place)}</h4>
          <LineTable label={`${label}, ${text.place}`} diff={text.lines} prose />
        </div>
      ))}
      <FieldChanges label={`Values of message ${number}`} fields={inner.fields} />
    </li>
  )
}

interface FieldChangesProps {
  readonly label: string
  readonly fields: readonly FieldChange[]
}

const FIELD_CHANGES_PAGE = 100
const SIGNS = { added: '+', removed: '−', changed: '±' } as const

/** Changed values by place, old and new. */
function FieldChanges({ label, fields }: FieldChangesProps) {
  const [shown, setShown] = useState(FIELD_CHANGES_PAGE)
  if (fields.length === 0) return null
  return (
    <div className={styles.framed}>
      <table className={styles.fields} aria-label={label}>
        <thead>
          <tr>
            <th scope="col">Place</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {fields.slice(0, shown).map((field, at) => (
            <Field key={at} field={field} />
          ))}
        </tbody>
      </table>
      {fields.length > shown && (
        <button type="button" className={styles.more} onClick={() => setShown(shown + FIELD_CHANGES_PAGE)}>
          {(fields.length - shown).toLocaleString()} more
        </button>
      )}
    </div>
  )
}

function Field({ field: { place, base, head, kind } }: { readonly field: FieldChange }) {
  const marks = typeof base === 'string' && typeof head === 'string' ? wordMarks(base, head) : undefined
  return (
    <tr data-change>
      <th scope="row" title={kind}>
        <span className={styles.sign} aria-label={kind} role="img">
          {SIGNS[kind]}
        </span>
        <bdi>{visible(place)}</bdi>
      </th>
      <td data-name="Before" dir="auto" className={base === undefined ? undefined : styles.base}>
        {marks ? <LineText side="base" parts={marks.base} /> : <Value side="base" value={base} />}
      </td>
      <td data-name="After" dir="auto" className={head === undefined ? undefined : styles.head}>
        {marks ? <LineText side="head" parts={marks.head} /> : <Value side="head" value={head} />}
      </td>
    </tr>
  )
}

function Value({ side, value }: { readonly side: 'base' | 'head'; readonly value: unknown }) {
  if (value === undefined) return <span className={styles.none}>none</span>
  if (typeof value === 'string') {
    if (value === '') return <span className={styles.none}>empty text</span>
    return <LineText side={side} parts={[{ text: value, isChanged: false }]} />
  }
  if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber))
    return <JsonView value={value} depth={1} />
  return String(value)
}

/** A message with its changes. */
interface MessageDiff extends MessageChange {
  /** Its text, line by line; undefined if it has no text, or did not change. */
  readonly lines?: LineDiff
  /** The changes of everything else, without the role. */
  readonly inner: JsonChanges
}

/** The changes between two payloads, ready to be drawn. */
interface DataChanges {
  readonly conversations: readonly { readonly place: string; readonly messages: readonly MessageDiff[] }[]
  readonly texts: readonly TextChange[]
  readonly fields: readonly FieldChange[]
  /** The number of changes to step through. */
  readonly changes: number
  /** In words: `2 messages changed, 1 moved · 3 values`. */
  readonly summary: string
  readonly added: number
  readonly removed: number
}

/** Compares two payloads; undefined means that there is none. */
function dataChanges(base: unknown, head: unknown): DataChanges {
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
