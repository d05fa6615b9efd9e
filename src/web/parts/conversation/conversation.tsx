import type { ReactNode } from 'react'
import { membersOf } from '../../api/json.ts'
import { Fold } from '../text/text.tsx'
import { JsonView } from '../json/json-view.tsx'
import styles from './conversation.module.css'

/** A message of a prompt, a reply or a trace. */
export interface Message {
  readonly role: string
  readonly content?: unknown
  readonly name?: string
  readonly tool_calls?: unknown
  readonly tool_call_id?: unknown
}

export interface ConversationProps {
  readonly messages: readonly Message[]
  /** Renders a text of a message; plain by default. */
  readonly text?: (text: string, at: number) => ReactNode
  /** Renders a value that is not text, such as an embed; undefined shows it as JSON. */
  readonly value?: (value: unknown, at: number) => ReactNode
  /** The index of the message that a link points to. */
  readonly marked?: number | undefined
}

/** Messages as cards, in their order, coloured by role. */
export function Conversation({ messages, text, value, marked }: ConversationProps) {
  const draw = (content: unknown, at: number): ReactNode =>
    typeof content === 'string'
      ? (text?.(content, at) ?? <Fold text={content} />)
      : (value?.(content, at) ?? <JsonView value={content} />)
  return (
    <ol className="stack">
      {messages.map((message, at) => (
        <li
          key={at}
          className={styles.card}
          data-role={message.role}
          aria-current={at === marked ? 'location' : undefined}
        >
          <header className="row muted-small">
            <h3>{message.role}</h3>
            {message.name !== undefined && <bdi>{String(message.name)}</bdi>}
            {typeof message.tool_call_id === 'string' && (
              <code title="The call that it answers">{message.tool_call_id}</code>
            )}
          </header>
          <div className={styles.text} dir="auto">
            {Array.isArray(message.content)
              ? message.content.map((part, index) => (
                  <div key={index} className={styles.part}>
                    <Part part={part} draw={(content) => draw(content, at)} />
                  </div>
                ))
              : message.content !== undefined && message.content !== null && draw(message.content, at)}
          </div>
          {Array.isArray(message.tool_calls) && (
            <ul className={styles.calls}>
              {message.tool_calls.map((call, index) => (
                <li key={index}>
                  <ToolCall call={call} />
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  )
}

/** A part of a message's content: text as text; an image or a file as its address, which is never loaded. */
function Part({ part, draw }: { readonly part: unknown; readonly draw: (content: unknown) => ReactNode }) {
  const { type, text, image_url: image } = membersOf(part)
  if (type === 'text' && typeof text === 'string') return draw(text)
  const { url } = membersOf(image)
  if (typeof url === 'string') {
    return (
      <span className="muted">
        image <code>{url.length > LONGEST ? `${url.slice(0, LONGEST)}…` : url}</code>
      </span>
    )
  }
  return draw(part)
}

/** A data URL may be as long as a picture. */
const LONGEST = 200

function ToolCall({ call }: { readonly call: unknown }) {
  const { function: called, id } = membersOf(call)
  const { name, arguments: sent } = membersOf(called)
  if (typeof name !== 'string') return <JsonView value={call} />
  return (
    <>
      <b dir="auto">{name}</b> {typeof id === 'string' && <code title="The id of the call">{id}</code>}
      {typeof sent === 'string' ? <Fold text={sent} /> : <JsonView value={sent} depth={1} />}
    </>
  )
}
