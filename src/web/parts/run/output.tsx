import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from '../button/button.tsx'
import { Conversation, type Message } from '../conversation/conversation.tsx'
import { wordMarks, type WordMarks } from '../diff/line-diff.ts'
import { LongTextField } from '../fields/fields.tsx'
import { dollars, Fold, PRICED } from '../text/text.tsx'
import { JsonView, prettyJson } from '../json/json-view.tsx'
import { duration } from '../time/time.tsx'
import { places } from '../../shell/places.ts'
import styles from './run.module.css'
import type { RunState } from './use-runs.ts'
import { messagesIn } from '../conversation/read-messages.ts'

export interface OutputProps {
  /** Undefined until something runs. */
  readonly state: RunState | undefined
  /** The text of another output: what differs from it is marked. */
  readonly beside?: string | undefined
  /** For a chat: sends the next message. */
  readonly onNext?: ((reply: string, next: string) => void) | undefined
  /** What the next message does, where that is not plain. */
  readonly nextHint?: string | undefined
  /** One of many: folded earlier, and not called out to screen readers. */
  readonly isSmall?: boolean
}

/**
 * The output of a run, also while it is written: messages as messages, texts as text, other values as JSON. It is there before anything runs, and
 * busy while it is written: screen readers then read it out once it is complete.
 */
export function Output({ state, isSmall = false, ...rest }: OutputProps) {
  return (
    <section
      aria-label="Output"
      // An error is in an alert. A live region would read it a second time.
      aria-live={isSmall || state?.error ? undefined : 'polite'}
      aria-busy={state?.status === 'running'}
    >
      {state && <Outcome state={state} isSmall={isSmall} {...rest} />}
    </section>
  )
}

interface OutcomeProps extends Omit<OutputProps, 'state' | 'isSmall'> {
  readonly state: RunState
  readonly isSmall: boolean
}

function Outcome({ state, beside, onNext, nextHint, isSmall }: OutcomeProps) {
  const { status, written, outputs, error } = state
  return (
    <>
      <Facts state={state} />
      {error && (
        // The errors of many rows are not called out one by one.
        <div role={isSmall ? undefined : 'alert'} className={styles.failure}>
          <p dir="auto">{error.message}</p>
          <code>{error.code}</code>
          {(error.secret !== undefined || /invalid[-_]secrets/.test(error.code)) && (
            <p>
              <Link
                to={places.settings('secrets')}
                search={error.secret === undefined ? {} : { name: error.secret }}
              >
                Add {error.secret ?? 'a provider key'} in Settings
              </Link>
            </p>
          )}
        </div>
      )}
      {outputs !== undefined ? (
        <Outputs text={outputs} beside={beside} isSmall={isSmall} />
      ) : (
        written !== '' && <Written text={written} isOver={status !== 'running'} />
      )}
      {outputs !== undefined && onNext && (
        <NextMessage hint={nextHint} send={(next) => onNext(outputs, next)} />
      )}
    </>
  )
}

/** While a reply is written, only this much of its end is laid out: it may never stop growing. */
const SHOWN_WHILE_WRITTEN = 8000

function Written({ text, isOver }: { readonly text: string; readonly isOver: boolean }) {
  const left = text.length - SHOWN_WHILE_WRITTEN
  return (
    <div className={`card ${styles.text}`} dir="auto">
      {!isOver && left > 0 && (
        <p className="muted">The first {left.toLocaleString()} characters are shown at the end.</p>
      )}
      {isOver ? <Fold text={text} lines={40} /> : left > 0 ? `…${text.slice(left)}` : text}
    </div>
  )
}

function Facts({ state }: Pick<OutcomeProps, 'state'>) {
  const { status, ms, tokens, cost, traceId } = state
  return (
    <p className={`row-wide muted ${styles.facts}`}>
      <b data-status={status}>{WORDS[status]}</b>
      {ms !== undefined && <span>{duration(ms)}</span>}
      {tokens && (
        <span
          title={`${tokens.prompt.toLocaleString()} in the prompt, ${tokens.completion.toLocaleString()} in the reply`}
        >
          {(tokens.prompt + tokens.completion).toLocaleString()} tokens
        </span>
      )}
      {cost !== undefined && <span title={PRICED}>{dollars(cost)}</span>}
      {traceId !== undefined && <Link to={places.trace(traceId)}>trace</Link>}
    </p>
  )
}

const WORDS: Readonly<Record<RunState['status'], string>> = {
  waiting: 'Waiting…',
  running: 'Running…',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
}

/** Longer JSON is shown as a tree. */
const MOST_TEXT = 100_000

interface OutputsProps {
  readonly text: string
  readonly beside: string | undefined
  readonly isSmall: boolean
}

function Outputs({ text, beside, isSmall }: OutputsProps) {
  const value = JSON.parse(text) as unknown
  const words = shownText(text)
  const marks = beside === undefined || beside === words ? undefined : wordMarks(beside, words)
  const lines = isSmall ? 8 : 40
  if (words === '') return <p className="muted">The output is empty.</p>
  if (beside !== undefined)
    return (
      <div className={`card ${styles.text}`} dir="auto">
        <p className="muted">
          {beside === words ? 'Same as the first column' : 'Differs from the first column'}
        </p>
        {marks ? (
          <div className={styles.marked}>
            {together(marks).map(({ text: part, of }, at) =>
              of === 'both' ? (
                part
              ) : of === 'head' ? (
                <mark key={at}>{part}</mark>
              ) : (
                <del key={at}>{part}</del>
              ),
            )}
          </div>
        ) : (
          <Fold text={words} lines={lines} />
        )}
      </div>
    )
  const messages = messagesOf(value)
  if (messages && !isSmall) return <Conversation messages={messages} />
  if (typeof value === 'string' || messages)
    return (
      <div className={`card ${styles.text}`}>
        <Fold text={words} lines={lines} />
      </div>
    )
  if (text.length > MOST_TEXT) return <JsonView value={value} />
  return (
    <div className={`card ${styles.json}`}>
      <Fold text={words} lines={isSmall ? lines : 60} />
    </div>
  )
}

interface Piece {
  readonly text: string
  readonly of: 'both' | 'base' | 'head'
}

/** The words of two texts in one, in order: those of both, and those that only one has. */
function together(marks: WordMarks): readonly Piece[] {
  const [base, head] = [[...marks.base], [...marks.head]]
  const pieces: Piece[] = []
  for (;;) {
    const [left, right] = [base[0], head[0]]
    if (left?.isChanged === true) pieces.push({ text: base.shift()?.text ?? '', of: 'base' })
    else if (right?.isChanged === true) pieces.push({ text: head.shift()?.text ?? '', of: 'head' })
    else if (!left || !right) return pieces
    else {
      const text = left.text.length < right.text.length ? left.text : right.text
      pieces.push({ text, of: 'both' })
      for (const side of [base, head]) {
        const rest = side.shift()?.text.slice(text.length) ?? ''
        if (rest !== '') side.unshift({ text: rest, isChanged: false })
      }
    }
  }
}

/** An output as a text to compare and to keep: the text of a single message, a text, otherwise JSON. */
export function shownText(outputs: string): string {
  const value = JSON.parse(outputs) as unknown
  if (typeof value === 'string') return value
  const [message, ...more] = messagesOf(value) ?? []
  return message && more.length === 0 && typeof message.content === 'string'
    ? message.content
    : prettyJson(outputs)
}

/** The messages of an output that is nothing else. */
function messagesOf(value: unknown): readonly Message[] | undefined {
  const found = messagesIn(value)
  return found && Object.keys(found.rest).length === 0 ? found.messages : undefined
}

interface NextMessageProps {
  readonly hint: string | undefined
  readonly send: (next: string) => void
}

/** Continues a conversation: the reply and this message are added to it. */
function NextMessage({ hint, send }: NextMessageProps) {
  const [next, setNext] = useState('')
  return (
    <form
      className={styles.next}
      onSubmit={(event) => {
        event.preventDefault()
        if (next.trim() !== '') send(next)
      }}
    >
      <LongTextField label="Your next message" hint={hint} rows={2} value={next} onChange={setNext} />
      <Button type="submit" needs="invoke" refusal={next.trim() === '' ? 'Type a message first.' : undefined}>
        Send
      </Button>
    </form>
  )
}
