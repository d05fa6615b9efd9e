import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { membersOf, parseJson } from '../../api/json.ts'
import type { Answer } from '../../api/call.ts'
import { useRouteText } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { Editor } from '../editor/editor.tsx'
import { ChoiceField, LongTextField, TextField } from '../fields/fields.tsx'
import { itemsAt, problemOfJson, stringAt, textAt } from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'
import { Toggles } from '../tabs/tabs.tsx'
import { excerptOf } from '../text/text.tsx'
import { ago } from '../time/time.tsx'
import { dataOf, headIn, nameOfRun } from '../waterfall/spans.ts'
import { type InputField, problemOfInput, refusalOf, shownInput, withInput } from './inputs.ts'
import styles from './run.module.css'
import type { InputsState } from './use-inputs.ts'
import type { RunFailure } from './use-runs.ts'

export interface InputsFormProps {
  readonly fields: readonly InputField[]
  readonly state: InputsState
  /** Whether it also asks for an output to evaluate. */
  readonly judges: boolean
  /** Called with the reason why the inputs cannot be sent. */
  readonly onProblem: (field: string, problem: string | undefined) => void
  /** Why the last run with these inputs failed. */
  readonly refusal: RunFailure | undefined
}

/** The inputs of a run, as fields or as JSON, and the output that an evaluator evaluates. */
export function InputsForm({ fields, state, judges, onProblem, refusal }: InputsFormProps) {
  const [view, setView] = useState<'fields' | 'json'>('fields')
  const asJson = view === 'json' || fields.length === 0
  const { inputs, judged, turn, type } = state
  const change = (text: string): void => type({ inputs: text })
  return (
    <section aria-label="Inputs" className={styles.inputs}>
      <div className={styles.head}>
        <h2>Inputs</h2>
        {fields.length > 0 && (
          <Toggles
            label="How inputs are typed"
            choices={[
              { label: 'Fields', value: 'fields' },
              { label: 'JSON', value: 'json' },
            ]}
            value={view}
            onChange={setView}
          />
        )}
      </div>
      {asJson ? (
        <JsonInputs
          key={turn}
          label="Inputs as JSON"
          value={inputs}
          onChange={change}
          onProblem={onProblem}
          isObject
        />
      ) : (
        fields.map((field) => (
          <OneInput
            key={`${turn} ${field.name}`}
            field={field}
            inputs={inputs}
            onChange={change}
            onProblem={onProblem}
            refusal={refusal}
          />
        ))
      )}
      {judges && state.testcaseId !== undefined && (
        <RowOutputs
          testcaseId={state.testcaseId}
          value={judged}
          choose={(text) => state.fill({ judged: text })}
        />
      )}
      {judges && (
        <JudgedOutput
          key={`${turn} judged`}
          value={judged}
          onChange={(text) => type({ judged: text })}
          onProblem={onProblem}
        />
      )}
    </section>
  )
}

interface RowOutputsProps {
  readonly testcaseId: string
  /** The output to evaluate, as JSON text. */
  readonly value: string
  readonly choose: (json: string) => void
}

/** Offers what prompts answered lately for a row of a testset, tried in the editor, the playground or by code. */
function RowOutputs({ testcaseId, value, choose }: RowOutputsProps) {
  const { data = '{}' } = useRouteText('POST /traces/query', {
    body: {
      filtering: { conditions: [{ field: 'references', operator: 'has', value: { id: testcaseId } }] },
      windowing: { limit: 20 },
    },
  })
  const found = itemsAt(data, ['traces']).flatMap((text) => {
    const { spans } = JSON.parse(text) as Answer<'POST /traces/query'>['traces'][number]
    const [name = '', first] = Object.entries(spans)[0] ?? []
    const place = ['spans', name, ...(Array.isArray(first) ? [0] : [])]
    const output = textAt(text, [...place, 'attributes', 'svc', 'data', 'outputs'])
    const head = headIn(spans)
    // What evaluators said, of this row or in an evaluation, is nothing to evaluate.
    if (!head || output === undefined || dataOf(head).evaluationId !== undefined) return []
    if ('outputs' in membersOf(dataOf(head).inputs)) return []
    const when = ago(Date.parse(head.start_time), Date.now())
    return [{ value: output, label: `${nameOfRun(head)}, ${when}: ${excerptOf(JSON.parse(output))}` }]
  })
  if (found.length === 0) return null
  const shown = found.some((it) => it.value === value) ? value : ''
  const unlike = found.filter((it, at) => found.findIndex((other) => other.value === it.value) === at)
  return (
    <ChoiceField
      label="Output of a run of this row"
      value={shown}
      choices={[{ value: '', label: 'typed below' }, ...unlike]}
      onChange={(text) => choose(text === '' ? '""' : text)}
    />
  )
}

interface JudgedOutputProps {
  /** As JSON text. */
  readonly value: string
  readonly onChange: (json: string) => void
  readonly onProblem: (field: string, problem: string | undefined) => void
}

/** The output that an evaluator evaluates: most are texts. */
function JudgedOutput({ value, onChange, onProblem }: JudgedOutputProps) {
  const text = stringAt(value, [])
  const [view, setView] = useState<'text' | 'json'>(text === undefined ? 'json' : 'text')
  const asText = view === 'text' && text !== undefined
  return (
    <>
      <div className={styles.head}>
        <h2>Output to evaluate</h2>
        <Toggles
          label="How the output is typed"
          choices={[
            { label: 'Text', value: 'text' },
            { label: 'JSON', value: 'json' },
          ]}
          value={asText ? 'text' : 'json'}
          onChange={(next) => {
            if (next === 'text' && text === undefined) onChange(JSON.stringify(value))
            setView(next)
          }}
        />
      </div>
      {asText ? (
        <LongTextField
          label="Output"
          rows={3}
          value={text}
          onChange={(typed) => onChange(JSON.stringify(typed))}
        />
      ) : (
        <JsonInputs label="Output as JSON" value={value} onChange={onChange} onProblem={onProblem} />
      )}
    </>
  )
}

interface OneInputProps {
  readonly field: InputField
  /** As JSON text. */
  readonly inputs: string
  readonly onChange: (inputs: string) => void
  readonly onProblem: (field: string, problem: string | undefined) => void
  readonly refusal: RunFailure | undefined
}

function OneInput({ field, inputs, onChange, onProblem, refusal }: OneInputProps) {
  // Text that is not a value yet is kept as typed.
  const [typed, setTyped] = useState<string>()
  const value = typed ?? shownInput(inputs, field)
  const messages = field.kind === 'messages' && typed === undefined ? plainMessages(value) : undefined
  const problem = problemOfInput(field, value)
  function change(text: string): void {
    const wrong = problemOfInput(field, text)
    onProblem(field.name, wrong && `${field.name} ${wrong}`)
    setTyped(wrong === undefined && (field.kind === 'text' || field.kind === 'messages') ? undefined : text)
    if (wrong === undefined) onChange(withInput(inputs, field, text))
  }
  if (messages) return <MessagesInput messages={messages} onChange={(list) => change(JSON.stringify(list))} />
  const common = {
    label: field.isRequired ? `${field.name} (required)` : field.name,
    value,
    onChange: change,
    problem: (value === '' ? undefined : problem) ?? (refusal && refusalOf(field.name, refusal)),
    ...(field.description === undefined ? {} : { hint: field.description }),
  }
  if (field.kind === 'number' || field.kind === 'boolean') return <TextField {...common} autoComplete="off" />
  return (
    <div className={field.kind === 'text' ? undefined : styles.mono}>
      <LongTextField {...common} rows={Math.min(12, Math.max(2, value.split('\n').length))} />
    </div>
  )
}

/** A message of a role and a text. */
interface PlainMessage {
  readonly role: string
  readonly content: string
}

/** The messages of a chat that are only texts; undefined if there is something else, which is edited as JSON. */
function plainMessages(json: string): readonly PlainMessage[] | undefined {
  if (json === '') return []
  const value = problemOfJson(json) === undefined ? parseJson(json) : undefined
  const isPlain = (it: unknown): it is PlainMessage =>
    typeof it === 'object' &&
    it !== null &&
    Object.entries(it).every(([key, text]) => /^(?:role|content)$/.test(key) && typeof text === 'string') &&
    Object.keys(it).length === 2
  return Array.isArray(value) && value.every(isPlain) ? value : undefined
}

interface MessagesInputProps {
  readonly messages: readonly PlainMessage[]
  readonly onChange: (messages: readonly PlainMessage[]) => void
}

const ROLES = ['user', 'assistant', 'system', 'tool']

/** The conversation so far, which a chat answers. */
function MessagesInput({ messages, onChange }: MessagesInputProps) {
  const change = (at: number, message: PlainMessage): void =>
    onChange(messages.map((it, index) => (index === at ? message : it)))
  return (
    <fieldset className={`checks ${styles.messages}`}>
      <legend>Conversation so far</legend>
      {messages.map((message, at) => (
        <div key={at}>
          <select
            aria-label={`Role of conversation message ${at + 1}`}
            value={message.role}
            onChange={({ target }) => change(at, { ...message, role: target.value })}
          >
            {[...new Set([...ROLES, message.role])].map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
          <textarea
            aria-label={`Text of conversation message ${at + 1}`}
            dir="auto"
            rows={Math.min(8, Math.max(1, message.content.split('\n').length))}
            value={message.content}
            onChange={({ target }) => change(at, { ...message, content: target.value })}
          />
          <Button
            kind="quiet"
            aria-label={`Remove conversation message ${at + 1}`}
            onClick={() => onChange(messages.filter((_, index) => index !== at))}
          >
            <Trash2 size={16} aria-hidden />
          </Button>
        </div>
      ))}
      <Button onClick={() => onChange([...messages, { role: 'user', content: '' }])}>
        <Plus size={16} aria-hidden />
        Add a message to the conversation
      </Button>
    </fieldset>
  )
}

interface JsonInputsProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly onProblem: (field: string, problem: string | undefined) => void
  readonly isObject?: boolean
}

/** A JSON value, sent as typed. */
function JsonInputs({ label, value, onChange, onProblem, isObject = false }: JsonInputsProps) {
  const [typed, setTyped] = useState(() => prettyJson(value))
  const problemOf = (text: string): string | undefined => {
    const problem = problemOfJson(text)
    if (problem !== undefined) return `This is not JSON yet: ${problem}`
    return isObject && !/^\s*\{/.test(text) ? 'Inputs must be a JSON object: { … }.' : undefined
  }
  return (
    <Editor
      label={label}
      language="json"
      value={typed}
      problem={problemOf(typed)}
      onChange={(text) => {
        setTyped(text)
        const problem = problemOf(text)
        onProblem(label, problem)
        if (problem === undefined) onChange(text)
      }}
    />
  )
}
