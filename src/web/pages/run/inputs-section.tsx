import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { places } from '../../shell/places.ts'
import { type InputField, problemOfInput, refusalOf, shownInput, withInput } from './inputs.ts'
import type { RunFailure } from './use-run.ts'
import styles from './run.module.css'
import { useState } from 'react'
import { Editor } from '../../parts/editor/editor.tsx'
import { LongTextField, TextField } from '../../parts/fields/fields.tsx'
import { problemOfJson } from '../../parts/json-text/json-text.ts'
import { prettyJson } from '../../parts/json/json-view.tsx'

/** The parameters of a run's address. */
export interface RunSearch {
  readonly variant?: string
  readonly version?: string
  readonly testset?: string
  readonly row?: string
  readonly trace?: string
  readonly inputs?: string
}

export interface InputsSectionProps {
  readonly slug: string
  readonly search: RunSearch
  readonly fields: readonly InputField[]
  readonly inputs: string
  readonly onInputs: (inputs: string) => void
  /** For an evaluator: the outputs to judge. */
  readonly judged: string | undefined
  readonly onJudged: (outputs: string) => void
  readonly onProblem: (field: string, problem: string | undefined) => void
  /** Why the last run with these inputs failed. */
  readonly refusal: RunFailure | undefined
}

/** The inputs of a run, as fields or as JSON, and the outputs that an evaluator judges. */
export function InputsSection(props: InputsSectionProps) {
  const { slug, search, fields, inputs, onInputs, judged, onJudged, onProblem, refusal } = props
  const asJson = search.inputs === 'json'
  const to = places.run(slug)
  return (
    <section aria-label="Inputs" className={styles.inputs}>
      <div className={styles.head}>
        <h2>Inputs</h2>
        {fields.length > 0 && (
          <LinkTabs
            label="How inputs are typed"
            tabs={[
              { label: 'Fields', to, search: { ...search, inputs: undefined }, isHere: !asJson },
              { label: 'JSON', to, search: { ...search, inputs: 'json' }, isHere: asJson },
            ]}
          />
        )}
      </div>
      <InputsForm
        fields={fields}
        inputs={inputs}
        onChange={onInputs}
        asJson={asJson}
        onProblem={onProblem}
        refusal={refusal}
      />
      {judged !== undefined && (
        <>
          <h2>Outputs to judge</h2>
          <JsonInputs label="Outputs as JSON" value={judged} onChange={onJudged} onProblem={onProblem} />
        </>
      )}
    </section>
  )
}

interface InputsFormProps {
  readonly fields: readonly InputField[]
  /** As JSON text. */
  readonly inputs: string
  readonly onChange: (inputs: string) => void
  readonly asJson: boolean
  /** Called with the reason why the inputs cannot be sent. */
  readonly onProblem: (field: string, problem: string | undefined) => void
  /** Why the last run with these inputs failed. */
  readonly refusal: RunFailure | undefined
}

/** The inputs: one field each if they are known, otherwise JSON. */
function InputsForm({ fields, inputs, onChange, asJson, onProblem, refusal }: InputsFormProps) {
  if (asJson || fields.length === 0)
    return (
      <JsonInputs label="Inputs as JSON" value={inputs} onChange={onChange} onProblem={onProblem} isObject />
    )
  return (
    <>
      {fields.map((field) => (
        <OneInput
          key={field.name}
          field={field}
          inputs={inputs}
          onChange={onChange}
          onProblem={onProblem}
          refusal={refusal}
        />
      ))}
    </>
  )
}

interface OneInputProps extends Omit<InputsFormProps, 'fields' | 'asJson'> {
  readonly field: InputField
}

function OneInput({ field, inputs, onChange, onProblem, refusal }: OneInputProps) {
  // Text that is not a value yet is kept as typed.
  const [typed, setTyped] = useState<string>()
  const value = typed ?? shownInput(inputs, field)
  const problem = problemOfInput(field, value)
  function change(text: string): void {
    const wrong = problemOfInput(field, text)
    onProblem(field.name, wrong && `${field.name} ${wrong}`)
    setTyped(wrong === undefined && field.kind === 'text' ? undefined : text)
    if (wrong === undefined) onChange(withInput(inputs, field, text))
  }
  const common = {
    label: field.isRequired ? `${field.name} (required)` : field.name,
    value,
    onChange: change,
    problem: (value === '' ? undefined : problem) ?? (refusal && refusalOf(field.name, refusal)),
    ...(field.description === undefined ? {} : { hint: field.description }),
  }
  if (field.kind === 'number' || field.kind === 'boolean') return <TextField {...common} autoComplete="off" />
  return (
    <div className={field.kind === 'json' ? styles.mono : undefined}>
      <LongTextField {...common} rows={Math.min(12, Math.max(2, value.split('\n').length))} />
    </div>
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
