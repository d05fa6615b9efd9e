import { Link } from '@tanstack/react-router'
import { Conversation, type Message } from '../../parts/conversation/conversation.tsx'
import { Fold } from '../../parts/text/text.tsx'
import { JsonView, prettyJson } from '../../parts/json/json-view.tsx'
import { duration } from '../../parts/time/time.tsx'
import { places } from '../../shell/places.ts'
import styles from './run.module.css'
import type { RunState } from './use-run.ts'

/** The output of a run, also while it is written: messages as messages, texts as text, other values as JSON. */
export function Output({ state }: { readonly state: RunState }) {
  const { status, written, outputs, error } = state
  return (
    <section aria-label="Output" aria-busy={status === 'running'}>
      <Facts state={state} />
      {error && (
        <div role="alert" className={styles.failure}>
          <p>{error.message}</p>
          <code>{error.code}</code>
          {/invalid[-_]secrets/.test(error.code) && (
            <p>
              <Link to={places.settings('secrets')}>Set the key in Settings</Link>
            </p>
          )}
        </div>
      )}
      {outputs !== undefined ? (
        <Outputs text={outputs} />
      ) : written !== '' ? (
        <div className={styles.text}>
          <Fold text={written} lines={40} />
        </div>
      ) : (
        status === 'running' && <p className={styles.waiting}>Waiting for the first words …</p>
      )}
    </section>
  )
}

function Facts({ state: { status, ms, tokens, traceId } }: { readonly state: RunState }) {
  return (
    <p className={styles.facts} role="status">
      <b data-status={status}>{WORDS[status]}</b>
      {ms !== undefined && <span>{duration(ms)}</span>}
      {tokens && (
        <span
          title={`${tokens.prompt.toLocaleString()} in the prompt, ${tokens.completion.toLocaleString()} in the reply`}
        >
          {(tokens.prompt + tokens.completion).toLocaleString()} tokens
        </span>
      )}
      {traceId !== undefined && <Link to={places.trace(traceId)}>trace</Link>}
    </p>
  )
}

const WORDS: Readonly<Record<RunState['status'], string>> = {
  running: 'running …',
  done: 'done',
  failed: 'failed',
  stopped: 'stopped',
}

/** Longer JSON is shown as a tree. */
const MOST_TEXT = 100_000

function Outputs({ text }: { readonly text: string }) {
  const value = JSON.parse(text) as unknown
  if (typeof value === 'string') {
    return (
      <div className={styles.text}>
        <Fold text={value} lines={40} />
      </div>
    )
  }
  const messages = messagesIn(value)
  if (messages) return <Conversation messages={messages} />
  if (text.length > MOST_TEXT) return <JsonView value={value} />
  return (
    <div className={styles.json}>
      <Fold text={prettyJson(text)} lines={60} />
    </div>
  )
}

/** The messages of an output; undefined if it is something else. */
function messagesIn(value: unknown): readonly Message[] | undefined {
  if (isMessage(value)) return [value]
  if (typeof value !== 'object' || value === null) return undefined
  const { messages } = value as { readonly messages?: unknown }
  const isAll = Object.keys(value).length === 1 && Array.isArray(messages) && messages.length > 0
  return isAll && messages.every(isMessage) ? messages : undefined
}

function isMessage(value: unknown): value is Message {
  return (
    typeof value === 'object' &&
    value !== null &&
    'content' in value &&
    typeof (value as { readonly role?: unknown }).role === 'string'
  )
}
