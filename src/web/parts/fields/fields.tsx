import { type InputHTMLAttributes, type TextareaHTMLAttributes, type ReactNode, useId, useState } from 'react'
import styles from './fields.module.css'

interface Typed extends Omit<LabelledProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
}

type TextFieldProps = Typed & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'>

/** A text field with its label, and a message below it. */
export function TextField({ label, onChange, hint, problem, ...rest }: TextFieldProps) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(tied) => <input dir="auto" {...rest} {...tied} onChange={({ target }) => onChange(target.value)} />}
    </Labelled>
  )
}

type LongTextFieldProps = Typed & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'>

/** A text field of several lines. */
export function LongTextField({ label, onChange, hint, problem, ...rest }: LongTextFieldProps) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(tied) => (
        <textarea dir="auto" {...rest} {...tied} onChange={({ target }) => onChange(target.value)} />
      )}
    </Labelled>
  )
}

interface LabelledProps {
  readonly label: string
  readonly hint?: string | undefined
  /** The message about a wrong value, from the server or the form. */
  readonly problem?: string | undefined
  /** Renders the control with the attributes that connect it to its label and message. */
  readonly children: (tied: {
    readonly id: string
    readonly className: string
    readonly 'aria-invalid': true | undefined
    readonly 'aria-describedby': string | undefined
  }) => ReactNode
}

/** A control with its label, and a message or a hint below it. */
function Labelled({ label, hint, problem, children }: LabelledProps) {
  const id = useId()
  const note = problem ?? hint
  return (
    <div className={styles.field}>
      <label htmlFor={id} dir="auto">
        {label}
      </label>
      {children({
        id,
        className: 'control',
        'aria-invalid': problem === undefined ? undefined : true,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
      })}
      {/* It is there before a message is, because screen readers announce only what changes. */}
      <div aria-live="polite" className={styles.note}>
        {note !== undefined && (
          <p id={`${id}-note`} className={problem === undefined ? 'muted-small' : 'bad-small'}>
            {note}
          </p>
        )}
      </div>
    </div>
  )
}

interface ChoiceFieldProps extends Typed {
  readonly choices: readonly { readonly value: string; readonly label: string }[]
}

/** A select. */
export function ChoiceField({ label, value, choices, onChange, hint, problem }: ChoiceFieldProps) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(tied) => (
        <select {...tied} value={value} onChange={(event) => onChange(event.target.value)}>
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

/** The fields with invalid texts, so that the form is not sent. */
interface Problems {
  readonly first: string | undefined
  /** Sets or clears the problem of a field. */
  readonly note: (field: string, problem: string | undefined) => void
  readonly clear: () => void
}

/** Collects the problems of fields for the form. */
export function useProblems(): Problems {
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map())
  return {
    first: [...problems.values()][0],
    note: (field, problem) =>
      setProblems((before) => {
        if (before.get(field) === problem) return before
        const others = [...before].filter(([name]) => name !== field)
        return new Map(problem === undefined ? others : [...others, [field, problem]])
      }),
    clear: () => setProblems(new Map()),
  }
}
