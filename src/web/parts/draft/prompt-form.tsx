import { type JsonPath, stringAt, textAt } from '../json-text/json-text.ts'
import { templateFormat } from '../../../run/templates/template-variables.ts'
import { type Editing, namedInputs, promptInputs, promptPlaces, type PromptPlaces, put } from './editing.ts'
import { Messages } from './messages.tsx'
import { useDeferredValue, useEffect, useId, useMemo, useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { ChoiceField, TextField } from '../fields/fields.tsx'
import styles from './draft.module.css'
import { schemaProblems } from '../schema/schema-problems.ts'
import { membersOf, parseJson } from '../../api/json.ts'

export interface PromptFormProps {
  readonly editing: Editing
  readonly edit: (change: (editing: Editing) => Editing) => void
  readonly readOnly: boolean
  readonly problemAt: (path: JsonPath) => string | undefined
  /** Called when a field becomes wrong, and with undefined when it is right again. */
  readonly onProblem: (field: string, problem: string | undefined) => void
}

/** A prompt: its messages, its model, its parameters. */
export function PromptForm(props: PromptFormProps) {
  const { editing, edit, readOnly, problemAt } = props
  const places = promptPlaces(editing.text)
  const format = templateFormat(places?.format && stringAt(editing.text, places.format))
  const followed = useDeferredValue(editing.text)
  const names = useMemo(() => [...new Set([...namedInputs(followed), ...promptInputs(followed)])], [followed])
  if (!places) return null
  return (
    <>
      <Messages
        editing={editing}
        edit={edit}
        path={places.messages}
        format={format}
        names={names}
        readOnly={readOnly}
        problemAt={problemAt}
      />
      <ModelSettings {...props} places={places} />
    </>
  )
}

interface ModelSettingsProps extends PromptFormProps {
  readonly places: PromptPlaces
}

const SHOWN = ['temperature', 'max_tokens', 'top_p', 'frequency_penalty', 'presence_penalty']

/** The model of a prompt, its settings, and how variables are written. */
function ModelSettings({ editing, edit, places, readOnly, problemAt, onProblem }: ModelSettingsProps) {
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
