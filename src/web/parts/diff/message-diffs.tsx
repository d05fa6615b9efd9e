import { useState } from 'react'
import type { MessageDiff } from './model/data-changes.ts'
import styles from './diff.module.css'
import { FieldChanges } from './field-changes.tsx'
import { lineDiff } from './model/line-diff.ts'
import { LineTable } from './lines/line-table.tsx'
import { visible } from './model/visible.ts'

export interface MessageDiffsProps {
  readonly messages: readonly MessageDiff[]
}

const PAGE = 100

/** The messages of a prompt that changed, each as a card; those that did not are folded. */
export function MessageDiffs({ messages }: MessageDiffsProps) {
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

/** A message that changed by itself, or a run of those that did not. */
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
