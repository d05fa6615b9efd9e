import { Link } from '@tanstack/react-router'
import { Plus, ArrowDown, ArrowUp, Trash2 } from 'lucide-react'
import { memo, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from 'react'
import { type TemplateFormat, templateFormat } from '../../../run/templates/template-variables.ts'
import { membersOf, parseJson } from '../../api/json.ts'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { Editor, Waiting } from '../editor/editor.tsx'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import { type JsonPath, keysAt, lengthAt, stringAt, textAt } from '../json-text/json-text.ts'
import { JsonView } from '../json/json-view.tsx'
import { schemaProblems } from '../schema/schema-problems.ts'
import { places as addresses } from '../../shell/places.ts'
import styles from './draft.module.css'
import {
  type Editing,
  type PromptPlaces,
  addMessage,
  moveMessage,
  namedInputs,
  promptInputs,
  promptPlaces,
  put,
  removeMessage,
} from './editing.ts'

export interface PromptFormProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly readOnly: boolean
  readonly problemAt: (path: JsonPath) => string | undefined
  /** The provider key that a run would miss. */
  readonly missingKey: string | undefined
  /** Called when a field becomes wrong, and with undefined when it is right again. */
  readonly onProblem: (field: string, problem: string | undefined) => void
}

/** A prompt: its messages, its model, its parameters. */
export function PromptForm(props: PromptFormProps) {
  const { editing } = props
  const places = promptPlaces(editing.text)
  const format = templateFormat(places?.format && stringAt(editing.text, places.format))
  const followed = useDeferredValue(editing.text)
  const names = useMemo(() => [...new Set([...namedInputs(followed), ...promptInputs(followed)])], [followed])
  if (!places) return null
  return (
    <>
      <Messages {...props} path={places.messages} format={format} names={names} />
      <ModelSettings {...props} places={places} />
    </>
  )
}

/** Later messages get an editor when they come near the visible part. */
const EDITORS_AT_START = 20

/** The messages of a prompt, in their order. */
function Messages(props: MessagesProps) {
  const { editing, edit, path, readOnly } = props
  const list = useId()
  const [movedTo, setMovedTo] = useState<string>()
  const count = lengthAt(editing.text, path) ?? 0
  const { observe, near } = useNear()

  // A moved message keeps the focus on its button.
  useEffect(() => {
    if (movedTo === undefined) return
    document.getElementById(movedTo)?.focus()
    setMovedTo(undefined)
  }, [movedTo])

  return (
    <section aria-label="Messages">
      <ol className={styles.messages}>
        {Array.from({ length: count }, (_, at) => {
          const key = editing.ids[at] ?? at
          const id = `${list}-${key}`
          // Neighbours of visible messages have editors, so that Tab reaches them.
          const isOpen = at < EDITORS_AT_START || editing.ids.slice(at - 2, at + 3).some((it) => near.has(it))
          const move = (by: number): void => {
            edit((it) => moveMessage(it, path, at, at + by))
            const isAtEnd = at + by === 0 || at + by === count - 1
            setMovedTo(`${id}-${by < 0 === isAtEnd ? 'down' : 'up'}`)
          }
          return (
            <li key={key} ref={observe} data-key={key} className={styles.message}>
              {isOpen ? (
                <OneMessage {...props} at={at} id={id} isLast={at === count - 1} move={move} />
              ) : (
                <UnopenedMessage
                  role={stringAt(editing.text, [...path, at, 'role']) ?? ''}
                  text={stringAt(editing.text, [...path, at, 'content']) ?? ''}
                />
              )}
            </li>
          )
        })}
      </ol>
      <Button
        refusal={readOnly ? 'This draft is open in another tab.' : undefined}
        onClick={() => edit((it) => addMessage(it, path, count === 0 ? 'system' : 'user'))}
      >
        <Plus size={16} aria-hidden />
        Add a message
      </Button>
    </section>
  )
}

/** The keys of messages that have come near the visible part; one observer watches all. */
function useNear(): {
  readonly observe: (element: HTMLLIElement | null) => (() => void) | undefined
  readonly near: ReadonlySet<number>
} {
  const [near, setNear] = useState<ReadonlySet<number>>(new Set())
  const observer = useRef<IntersectionObserver | undefined>(undefined)
  observer.current ??= new IntersectionObserver(
    (entries) => {
      const come = entries.filter(({ isIntersecting }) => isIntersecting)
      if (come.length === 0) return
      const keys = come.map(({ target }) => Number((target as HTMLElement).dataset['key']))
      setNear((before) => (keys.every((key) => before.has(key)) ? before : new Set([...before, ...keys])))
    },
    { rootMargin: '600px' },
  )
  const observe = useRef((element: HTMLLIElement | null) => {
    if (!element) return undefined
    observer.current?.observe(element)
    return () => observer.current?.unobserve(element)
  })
  return { observe: observe.current, near }
}

/** A message without an editor yet: thousands of editors take the browser a minute. */
const UnopenedMessage = memo(function UnopenedMessage({
  role,
  text,
}: {
  readonly role: string
  readonly text: string
}) {
  return (
    <>
      <header className="row">{role}</header>
      <Waiting text={text} />
    </>
  )
})

interface MessagesProps extends Omit<PromptFormProps, 'onProblem'> {
  /** Where the messages are. */
  readonly path: JsonPath
  readonly format: TemplateFormat
  readonly names: readonly string[]
}

interface OneMessageProps extends MessagesProps {
  readonly at: number
  readonly id: string
  readonly isLast: boolean
  readonly move: (by: number) => void
}

const ROLES = ['system', 'user', 'assistant', 'tool', 'developer', 'function']

/** A message with its role, text and buttons. */
function OneMessage({ editing, edit, path, format, names, readOnly, problemAt, ...one }: OneMessageProps) {
  const { at, id, isLast, move } = one
  const role = stringAt(editing.text, [...path, at, 'role']) ?? ''
  const content = textAt(editing.text, [...path, at, 'content'])
  const text = stringAt(editing.text, [...path, at, 'content'])
  const others = keysAt(editing.text, [...path, at]).filter((key) => key !== 'role' && key !== 'content')
  const number = at + 1
  return (
    <>
      <header className="row">
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
        {others.length > 0 && <span className="muted-small">also {others.join(', ')}: see JSON</span>}
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
        <div className={`card ${styles.parts}`}>
          <JsonView value={JSON.parse(content) as unknown} />
          <p className="muted-small">This message is made of parts: edit them as JSON.</p>
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
      className={`icon-button ${styles.icon}`}
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

interface ModelSettingsProps extends PromptFormProps {
  readonly places: PromptPlaces
}

const SHOWN = ['temperature', 'max_tokens', 'top_p', 'frequency_penalty', 'presence_penalty']

/** The model of a prompt, its settings, and how variables are written. */
function ModelSettings(props: ModelSettingsProps) {
  const { editing, edit, places, readOnly, problemAt, missingKey, onProblem } = props
  const suggestions = useId()
  const llm = useRoute('GET /workflows/catalog/types/{key}', { path: { key: 'llm' } })
  const model = useRoute('GET /workflows/catalog/types/{key}', { path: { key: 'model' } })
  const properties = membersOf(membersOf(llm.data?.type.json_schema)['properties'])
  const { text } = editing
  const setText = (path: JsonPath, value: string): void =>
    edit((it) => put(it, path, value === '' ? undefined : JSON.stringify(value)))
  return (
    <section aria-label="Model and parameters" className={styles.settings}>
      <div className={styles.model}>
        <TextField
          label="Model"
          list={suggestions}
          readOnly={readOnly}
          value={stringAt(text, places.model) ?? ''}
          onChange={(value) => setText(places.model, value)}
          problem={problemAt(places.model)}
          autoComplete="off"
          spellCheck={false}
        />
        <datalist id={suggestions}>
          {modelsIn(model.data?.type.json_schema).map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {missingKey !== undefined && (
          <p className="muted-small">
            A run needs a key of the provider.{' '}
            <Link to={addresses.settings('secrets')} search={{ name: missingKey }}>
              Add {missingKey} in Settings
            </Link>
          </p>
        )}
      </div>
      {places.settings &&
        SHOWN.map((name) => (
          <NumberField
            key={name}
            name={name}
            schema={properties[name]}
            json={textAt(text, [...(places.settings ?? []), name])}
            readOnly={readOnly}
            problem={problemAt([...(places.settings ?? []), name])}
            onProblem={onProblem}
            onChange={(json) => edit((it) => put(it, [...(places.settings ?? []), name], json))}
          />
        ))}
      {places.format && (
        <ChoiceField
          label="Variable syntax"
          value={templateFormat(stringAt(text, places.format))}
          choices={FORMATS}
          onChange={(value) => {
            if (!readOnly && places.format) setText(places.format, value)
          }}
        />
      )}
    </section>
  )
}

const FORMATS = [
  { value: 'curly', label: '{{name}} (curly)' },
  { value: 'mustache', label: '{{name}}, {{#list}} (mustache)' },
  { value: 'fstring', label: '{name} (fstring)' },
  { value: 'jinja2', label: '{{ name }}, {% if %} (jinja2)' },
]

interface NumberFieldProps {
  readonly name: string
  /** The schema of its value; undefined until it is loaded. */
  readonly schema: unknown
  /** As written; undefined if not set. */
  readonly json: string | undefined
  readonly readOnly: boolean
  readonly problem: string | undefined
  readonly onProblem: (field: string, problem: string | undefined) => void
  readonly onChange: (json: string | undefined) => void
}

/** A number, kept as typed; empty means not set. */
function NumberField({ name, schema, json, readOnly, problem, onProblem, onChange }: NumberFieldProps) {
  const [typed, setTyped] = useState<string>()
  const given = json === undefined || json === 'null' ? '' : json
  const wrong = problemOfNumber(typed ?? given, schema)
  // The allowed range may arrive after the user has typed.
  useEffect(() => {
    onProblem(name, wrong && `${name} ${wrong}`)
    return () => onProblem(name, undefined)
  }, [wrong])
  return (
    <TextField
      label={name}
      inputMode="decimal"
      autoComplete="off"
      readOnly={readOnly}
      value={typed ?? given}
      placeholder="not set"
      problem={wrong ?? problem}
      onChange={(value) => {
        const said = value.trim()
        const isWrong = problemOfNumber(said, schema)
        setTyped(isWrong === undefined ? undefined : value)
        if (isWrong === undefined) onChange(said === '' ? undefined : said)
      }}
    />
  )
}

/** The models that the server knows, from the schema of a model. */
function modelsIn(schema: unknown): readonly string[] {
  return Object.values(membersOf(membersOf(schema)['choices'])).flatMap((names) =>
    Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : [],
  )
}

/** Why a text is not a number that the schema allows, worded to follow its name; undefined if it is one, or empty. */
function problemOfNumber(text: string, schema: unknown): string | undefined {
  if (text === '') return undefined
  if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return 'must be a number, such as 0.7'
  return schemaProblems(schema, parseJson(text))[0]?.msg
}
