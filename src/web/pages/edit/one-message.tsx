import { ArrowDown, ArrowUp, Trash2 } from 'lucide-react'
import { Editor } from '../../parts/editor/editor.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { type JsonPath, keysAt, stringAt, textAt } from '../../parts/json-text/json-text.ts'
import type { TemplateFormat } from '../../parts/template/template-variables.ts'
import { type Editing, put, removeMessage } from './draft/editing.ts'
import styles from './edit.module.css'

export interface MessagesProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  /** Where the messages are. */
  readonly path: JsonPath
  readonly format: TemplateFormat
  readonly names: readonly string[]
  readonly readOnly: boolean
  readonly problemAt: (path: JsonPath) => string | undefined
}

export interface OneMessageProps extends MessagesProps {
  readonly at: number
  readonly id: string
  readonly isLast: boolean
  readonly move: (by: number) => void
}

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer', 'function']

/** A message with its role, its text and what can be done with it. */
export function OneMessage({
  editing,
  edit,
  path,
  format,
  names,
  readOnly,
  problemAt,
  ...one
}: OneMessageProps) {
  const { at, id, isLast, move } = one
  const role = stringAt(editing.text, [...path, at, 'role']) ?? ''
  const content = textAt(editing.text, [...path, at, 'content'])
  const text = stringAt(editing.text, [...path, at, 'content'])
  const others = keysAt(editing.text, [...path, at]).filter((key) => key !== 'role' && key !== 'content')
  const number = at + 1
  return (
    <>
      <header>
        <select
          aria-label={`Role of message ${number}`}
          value={role}
          disabled={readOnly}
          onChange={({ target }) =>
            edit((it) => put(it, [...path, at, 'role'], JSON.stringify(target.value)))
          }
        >
          {[...new Set([...ROLES, role])].map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
        {others.length > 0 && <span className={styles.note}>also {others.join(', ')}: see JSON</span>}
        <span className={styles.tools}>
          <IconButton
            id={`${id}-up`}
            label={`Move message ${number} up`}
            off={at === 0 || readOnly}
            run={() => move(-1)}
          >
            <ArrowUp size={16} aria-hidden />
          </IconButton>
          <IconButton
            id={`${id}-down`}
            label={`Move message ${number} down`}
            off={isLast || readOnly}
            run={() => move(1)}
          >
            <ArrowDown size={16} aria-hidden />
          </IconButton>
          <IconButton
            label={`Remove message ${number}`}
            off={readOnly}
            run={() => edit((it) => removeMessage(it, path, at))}
          >
            <Trash2 size={16} aria-hidden />
          </IconButton>
        </span>
      </header>
      {text === undefined && content !== undefined && content !== 'null' ? (
        <div className={styles.parts}>
          <JsonView value={JSON.parse(content) as unknown} />
          <p className={styles.note}>This message is made of parts: edit them as JSON.</p>
        </div>
      ) : (
        <Editor
          label={`Text of message ${number}, ${role}`}
          value={text ?? ''}
          onChange={(value) => edit((it) => put(it, [...path, at, 'content'], JSON.stringify(value)))}
          language="template"
          format={format}
          names={names}
          readOnly={readOnly}
          problem={problemAt([...path, at])}
        />
      )}
    </>
  )
}

interface IconButtonProps {
  readonly id?: string
  readonly label: string
  readonly off: boolean
  readonly run: () => void
  readonly children: React.ReactNode
}

function IconButton({ id, label, off, run, children }: IconButtonProps) {
  return (
    <button
      type="button"
      id={id}
      className={styles.icon}
      aria-label={label}
      title={label}
      aria-disabled={off || undefined}
      onClick={() => {
        if (!off) run()
      }}
    >
      {children}
    </button>
  )
}
