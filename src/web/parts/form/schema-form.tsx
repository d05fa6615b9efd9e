import { type ReactNode, useEffect, useId, useState } from 'react'
import { membersOf, parseJson } from '../../api/json.ts'
import { useRoute } from '../../api/use-route.ts'
import { Button } from '../button/button.tsx'
import { Editor } from '../editor/editor.tsx'
import type { EditorLanguage } from '../editor/editor-props.ts'
import { ChoiceField, LongTextField, TextField } from '../fields/fields.tsx'
import { itemsAt, type JsonPath, problemOfJson, stringAt, textAt } from '../json-text/json-text.ts'
import { prettyJson } from '../json/json-view.tsx'
import { schemaProblems } from '../schema/schema-problems.ts'
import styles from './form.module.css'

export interface SchemaFormProps {
  /** The JSON Schema of an object, with titles and descriptions. */
  readonly schema: unknown
  /** The document as JSON text; what the form does not touch stays as it was written. */
  readonly text: string
  /** The path of the object in the document. */
  readonly path: JsonPath
  /** Fields that stand elsewhere. */
  readonly leaveOut?: readonly string[]
  readonly readOnly?: boolean
  /** Sets a value (JSON text) at a path, or removes it. */
  readonly onChange: (path: JsonPath, json: string | undefined) => void
  /** A problem that the server, or the whole schema, found at a path. */
  readonly problemAt: (path: JsonPath) => string | undefined
  /** Called when a field's text cannot be its value, and with undefined when it can again. */
  readonly onProblem: (field: string, problem: string | undefined) => void
}

/** A form made of a JSON Schema: a field for each property, with its title, its description and its checks. */
export function SchemaForm(props: SchemaFormProps) {
  const { schema, leaveOut = [] } = props
  const fields = fieldsOf(schema, schema).filter(({ name }) => !leaveOut.includes(name))
  const [usual, advanced] = [fields.filter((it) => !isAdvanced(it)), fields.filter(isAdvanced)]
  const draw = (field: Field) => <FieldOf key={field.name} {...props} field={field} />
  return (
    <>
      {usual.map(draw)}
      {advanced.length > 0 &&
        (usual.length === 0 ? (
          advanced.map(draw)
        ) : (
          <details className={styles.more}>
            <summary>More settings</summary>
            {advanced.map(draw)}
          </details>
        ))}
    </>
  )
}

/** The schema of an evaluator's parameters: its own, or that of the catalog; undefined if there is nothing to fill in, or it is no evaluator. */
export function useEvaluatorSchema(data: string, isEvaluator: boolean): unknown {
  const own = textAt(data, ['schemas', 'parameters'])
  const uri = stringAt(data, ['uri'])
  const catalog = useRoute(
    'GET /evaluators/catalog/templates',
    { query: { include_archived: 'true' } as never },
    { enabled: isEvaluator && own === undefined, immutable: true },
  )
  if (!isEvaluator) return undefined
  const known = catalog.data?.templates.find((it) => it.uri === uri)
  const schema: unknown = own === undefined ? membersOf(known?.schemas)['parameters'] : parseJson(own)
  return fieldsOf(schema, schema).length === 0 ? undefined : schema
}

/** A property of a schema. */
interface Field {
  readonly name: string
  readonly words: Words
  readonly isRequired: boolean
  /** The schema that `$ref` refers to. */
  readonly root: unknown
}

type Words = Readonly<Record<string, unknown>>

function fieldsOf(schema: unknown, root: unknown): readonly Field[] {
  const { properties, required } = membersOf(schema)
  return Object.entries(membersOf(properties)).flatMap(([name, it]) => {
    const words = resolved(it, root)
    if (words['x-svc-type'] === 'hidden') return []
    return [{ name, words, isRequired: Array.isArray(required) && required.includes(name), root }]
  })
}

/** The keywords of a schema, or of what its `$ref` names in the root. */
function resolved(schema: unknown, root: unknown): Words {
  const words = membersOf(schema)
  const name = /^#\/\$defs\/([^/]+)$/.exec(String(words['$ref'] ?? ''))?.[1]
  return name === undefined ? words : { ...membersOf(membersOf(membersOf(root)['$defs'])[name]), ...words }
}

function isAdvanced({ words }: Field): boolean {
  return words['x-svc-ui-advanced'] === true
}

/** What a schema calls a field, and how it explains it. */
function wordsOf({ name, words: { title, description } }: Field) {
  return {
    label: typeof title === 'string' ? title : name,
    hint: typeof description === 'string' ? description : undefined,
  }
}

interface FieldOfProps extends Omit<SchemaFormProps, 'schema' | 'leaveOut'> {
  readonly field: Field
}

/** The field of one property, by its type. */
function FieldOf(props: FieldOfProps) {
  const { field, text, path, readOnly = false, onChange, problemAt } = props
  const { name, words } = field
  const here = [...path, name]
  const { label, hint } = wordsOf(field)
  const json = textAt(text, here)
  const problem = problemAt(here)
  const set = (value: unknown): void => {
    if (!readOnly) onChange(here, value === undefined ? undefined : JSON.stringify(value))
  }
  const types = [words['type']].flat()
  const { enum: choices, items } = words
  if (Array.isArray(choices)) {
    const chosen = json ?? JSON.stringify(words['default'] ?? '')
    return (
      <ChoiceField
        label={label}
        hint={hint}
        problem={problem}
        value={chosen}
        choices={[
          ...(field.isRequired || words['default'] !== undefined ? [] : [{ value: '""', label: 'not set' }]),
          ...choices.map((it) => ({ value: JSON.stringify(it), label: String(it).replaceAll('_', ' ') })),
        ]}
        onChange={(value) => !readOnly && onChange(here, value === '""' ? undefined : value)}
      />
    )
  }
  if (types.includes('boolean')) {
    const isOn = json === undefined ? words['default'] === true : json === 'true'
    return <Toggle label={label} hint={hint} isOn={isOn} onChange={set} />
  }
  if (types.includes('number') || types.includes('integer')) return <NumberField {...props} />
  if (words['x-svc-type'] === 'code') {
    const runtime = stringAt(text, [...path, 'runtime']) ?? 'python'
    return (
      <Explained label={label} hint={hint}>
        {(describedBy) => (
          <Editor
            label={label}
            describedBy={describedBy}
            value={stringAt(text, here) ?? String(words['default'] ?? '')}
            onChange={set}
            language={RUNTIMES.includes(runtime) ? (runtime as EditorLanguage) : 'python'}
            readOnly={readOnly}
            problem={problem}
          />
        )}
      </Explained>
    )
  }
  if (types.includes('string')) {
    const value = stringAt(text, here) ?? (json === undefined ? String(words['default'] ?? '') : '')
    return (
      <TextField
        label={label}
        hint={hint}
        readOnly={readOnly}
        autoComplete="off"
        spellCheck={false}
        value={value}
        problem={problemOfText(value, words) ?? problem}
        onChange={(typed) => set(typed === '' && !field.isRequired ? undefined : typed)}
      />
    )
  }
  if (types.includes('array') && membersOf(items)['type'] === 'string') return <LinesField {...props} />
  if (
    types.includes('array') &&
    fieldsOf(resolved(items, field.root), field.root).length > 0 &&
    path.length < 6
  )
    return <ListField {...props} />
  return <JsonField {...props} />
}

interface ExplainedProps {
  readonly label: string
  readonly hint: string | undefined
  /** Renders the control with the ID of its hint. */
  readonly children: (describedBy: string | undefined) => ReactNode
}

/** An editor below its name and its hint. */
function Explained({ label, hint, children }: ExplainedProps) {
  const id = useId()
  return (
    <div className={styles.code}>
      <h3>{label}</h3>
      {hint !== undefined && <p id={id}>{hint}</p>}
      {children(hint === undefined ? undefined : id)}
    </div>
  )
}

const RUNTIMES = ['python', 'javascript', 'typescript']

/** Why a text is wrong, worded to follow its name: by its schema, and whether a regular expression is one. */
function problemOfText(value: string, words: Words): string | undefined {
  const [first] = schemaProblems(words, value)
  if (first) return first.msg
  const { pattern } = words
  if (typeof pattern === 'string' && !matches(pattern, value)) return `must have the form ${pattern}`
  if (words['x-svc-type'] === 'regex' && matches(value, '') === undefined)
    return 'is no regular expression yet: a bracket or a sign is missing'
  return undefined
}

/** Undefined where the pattern is none that this browser reads. */
function matches(pattern: string, value: string): boolean | undefined {
  try {
    return new RegExp(pattern, 'u').test(value)
  } catch {
    try {
      return new RegExp(pattern).test(value)
    } catch {
      return undefined
    }
  }
}

interface ToggleProps {
  readonly label: string
  readonly hint: string | undefined
  readonly isOn: boolean
  readonly onChange: (isOn: boolean) => void
}

function Toggle({ label, hint, isOn, onChange }: ToggleProps) {
  const id = useId()
  return (
    <div className={styles.toggle}>
      <label>
        <input
          type="checkbox"
          checked={isOn}
          aria-describedby={hint === undefined ? undefined : id}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      {hint !== undefined && <p id={id}>{hint}</p>}
    </div>
  )
}

/** A value as typed, which is set once it is valid. */
function useTyped(
  { field, path, onProblem }: FieldOfProps,
  problemOf: (typed: string) => string | undefined,
  given: string,
) {
  const [typed, setTyped] = useState<string>()
  const wrong = problemOf(typed ?? given)
  const place = [...path, field.name].join('.')
  useEffect(() => {
    onProblem(place, wrong && `${String(field.words['title'] ?? field.name)}: ${wrong}`)
    return () => onProblem(place, undefined)
  }, [place, wrong])
  return { shown: typed ?? given, wrong, setTyped }
}

function NumberField(props: FieldOfProps) {
  const { field, text, path, readOnly = false, onChange, problemAt } = props
  const { words, name } = field
  const here = [...path, name]
  const problemOf = (typed: string): string | undefined => {
    if (typed === '') return field.isRequired ? 'is required' : undefined
    if (!/^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(typed)) return 'must be a number, such as 0.7'
    return schemaProblems(words, Number(typed))[0]?.msg
  }
  const { shown, wrong, setTyped } = useTyped(props, problemOf, textAt(text, here) ?? '')
  return (
    <TextField
      {...wordsOf(field)}
      inputMode="decimal"
      autoComplete="off"
      readOnly={readOnly}
      value={shown}
      placeholder={words['default'] === undefined ? 'not set' : String(words['default'])}
      problem={wrong ?? problemAt(here)}
      onChange={(value) => {
        const isWrong = problemOf(value.trim()) !== undefined
        setTyped(isWrong ? value : undefined)
        if (!isWrong && !readOnly) onChange(here, value.trim() === '' ? undefined : value.trim())
      }}
    />
  )
}

/** A list of texts, one a line. */
function LinesField({ field, text, path, readOnly = false, onChange, problemAt }: FieldOfProps) {
  const here = [...path, field.name]
  const { label, hint = '' } = wordsOf(field)
  const given = itemsAt(text, here).map((item) => stringAt(item, []) ?? item)
  const [typed, setTyped] = useState<string>()
  return (
    <LongTextField
      label={label}
      hint={`${hint} One a line.`.trim()}
      rows={4}
      readOnly={readOnly}
      value={typed ?? given.join('\n')}
      problem={problemAt(here)}
      onChange={(value) => {
        setTyped(value)
        if (!readOnly) onChange(here, JSON.stringify(value.split('\n').filter((line) => line.trim() !== '')))
      }}
    />
  )
}

/** A list of objects, each a group of fields. */
function ListField(props: FieldOfProps) {
  const { field, text, path, readOnly = false, onChange } = props
  const { words, name, root } = field
  const here = [...path, name]
  const { label, hint } = wordsOf(field)
  const items = itemsAt(text, here)
  const setAll = (all: readonly string[]): void => {
    if (!readOnly) onChange(here, `[${all.join(',')}]`)
  }
  return (
    <fieldset className={styles.list}>
      <legend>{label}</legend>
      {hint !== undefined && <p>{hint}</p>}
      {items.map((_, at) => (
        <fieldset key={`${items.length} ${at}`}>
          <legend>{at + 1}</legend>
          {fieldsOf(resolved(words['items'], root), root).map((it) => (
            <FieldOf key={it.name} {...props} field={it} path={[...here, at]} />
          ))}
          <Button kind="quiet" onClick={() => setAll(items.filter((_item, index) => index !== at))}>
            Remove {at + 1}
          </Button>
        </fieldset>
      ))}
      <Button onClick={() => setAll([...items, '{}'])}>Add to {label.toLowerCase()}</Button>
    </fieldset>
  )
}

/** What has no field of its own, as JSON. */
function JsonField(props: FieldOfProps) {
  const { field, text, path, readOnly = false, onChange, problemAt } = props
  const here = [...path, field.name]
  const problemOf = (typed: string): string | undefined => {
    const problem = typed.trim() === '' ? undefined : problemOfJson(typed)
    return problem && `This is not JSON yet: ${problem}`
  }
  const given = textAt(text, here)
  const { shown, wrong, setTyped } = useTyped(props, problemOf, given === undefined ? '' : prettyJson(given))
  const { label, hint } = wordsOf(field)
  return (
    <Explained label={label} hint={hint}>
      {(describedBy) => (
        <Editor
          label={`${label} as JSON`}
          describedBy={describedBy}
          value={shown}
          onChange={(value) => {
            setTyped(value)
            if (problemOf(value) === undefined && !readOnly)
              onChange(here, value.trim() === '' ? undefined : value.trim())
          }}
          language="json"
          readOnly={readOnly}
          problem={wrong ?? problemAt(here)}
        />
      )}
    </Explained>
  )
}
