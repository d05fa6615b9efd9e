import type { ReactNode } from 'react'
import { Fold } from '../fold/fold.tsx'
import { JsonView } from '../json/json-view.tsx'
import styles from './conversation.module.css'

/** A message as prompts, replies and traces have it. */
export interface Message {
  readonly role: string
  readonly content?: unknown
  readonly name?: string
  readonly tool_calls?: unknown
}

export interface ConversationProps {
  readonly messages: readonly Message[]
  /** What stands at the end of a message's head: buttons, badges. */
  readonly aside?: (message: Message, at: number) => ReactNode
  /** Draws a text of a message; by itself it is plain. */
  readonly text?: (text: string, at: number) => ReactNode
}

/** Messages as cards, in their order, told apart by role. What they hold is shown as text. */
export function Conversation({ messages, aside, text }: ConversationProps) {
  return (
    <ol className={styles.conversation}>
      {messages.map((message, at) => (
        <li key={at} className={styles.card} data-role={message.role}>
          <header>
            <h3>{message.role}</h3>
            {message.name !== undefined && <span>{message.name}</span>}
            {aside?.(message, at)}
          </header>
          <div className={styles.text}>
            {typeof message.content === 'string' ? (
              (text?.(message.content, at) ?? <Fold text={message.content} />)
            ) : (
              <JsonView value={message.content} />
            )}
          </div>
          {message.tool_calls !== undefined && <JsonView name="tool_calls" value={message.tool_calls} />}
        </li>
      ))}
    </ol>
  )
}
