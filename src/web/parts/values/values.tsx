import { Conversation } from '../conversation/conversation.tsx'
import { messagesIn } from '../conversation/read-messages.ts'
import { JsonView } from '../json/json-view.tsx'
import { Fold } from '../text/text.tsx'
import styles from './values.module.css'

interface ValuesProps {
  readonly data: Readonly<Record<string, unknown>>
  /** A name that is shown elsewhere. */
  readonly without?: string | undefined
}

/** More are shown on request. */
const MOST = 40

/** Values by name, such as the columns of a row or the inputs of a run, of which there may be thousands. */
export function Values({ data, without }: ValuesProps) {
  const all = Object.entries(data).filter(([name]) => name !== without)
  const rest = all.slice(MOST)
  return (
    <>
      <dl className={styles.values}>
        {all.slice(0, MOST).map(([name, value]) => (
          <div key={name}>
            <dt>
              <Fold text={name} lines={2} />
            </dt>
            <dd>
              <Shown value={value} />
            </dd>
          </div>
        ))}
      </dl>
      {rest.length > 0 && (
        <JsonView name={`${rest.length.toLocaleString()} more`} value={Object.fromEntries(rest)} depth={0} />
      )}
    </>
  )
}

/** Texts as text, messages as a conversation, other values as JSON. */
function Shown({ value }: { readonly value: unknown }) {
  if (typeof value === 'string') return <Fold text={value} />
  const found = messagesIn(value)
  return found && Object.keys(found.rest).length === 0 ? (
    <Conversation messages={found.messages} />
  ) : (
    <JsonView value={value} depth={1} />
  )
}
