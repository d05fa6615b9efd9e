import { Conversation } from '../../parts/conversation/conversation.tsx'
import { Fold } from '../../parts/fold/fold.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { messagesIn } from './messages-in.ts'
import styles from './trace.module.css'

export interface SpanValueProps {
  readonly title: string
  /** Undefined is not shown. */
  readonly value: unknown
  /** Closed at first. */
  readonly folded?: boolean
}

/** What went into a span or came out of it: messages as a conversation, a text as text, everything else as JSON. */
export function SpanValue({ title, value, folded = false }: SpanValueProps) {
  if (value === undefined) return null
  return (
    <section className={styles.value}>
      <h3>{title}</h3>
      <Shown value={value} folded={folded} />
    </section>
  )
}

function Shown({ value, folded }: { readonly value: unknown; readonly folded: boolean }) {
  const found = folded ? undefined : messagesIn(value)
  if (found) {
    return (
      <>
        <Conversation messages={found.messages} />
        {Object.keys(found.rest).length > 0 && <JsonView value={found.rest} />}
      </>
    )
  }
  if (typeof value === 'string') {
    return (
      <div className={styles.text}>
        <Fold text={value} />
      </div>
    )
  }
  return <JsonView value={value} depth={folded ? 0 : 3} />
}
