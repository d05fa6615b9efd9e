import { type InputHTMLAttributes, type TextareaHTMLAttributes, type ReactNode, useId, useState } from 'react'
import styles from './fields.module.css'

interface Typed extends Omit<LabelledProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
}

type TextFieldProps = Typed & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'>

/** A line of text with its label, and below it what is wrong with it. */
export function TextField({ label, value, onChange, hint, problem, ...rest }: TextFieldProps) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(tied) => (
        <input
          dir="auto"
          {...rest}
          {...tied}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  )
}

type LongTextFieldProps = Typed & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'>

/** Some lines of text, the same. */
export function LongTextField({ label, value, onChange, hint, problem, ...rest }: LongTextFieldProps) {
  return (
    <Labelled label={label} hint={hint} problem={problem}>
      {(tied) => (
        <textarea
          dir="auto"
          {...rest}
          {...tied}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Labelled>
  )
}

interface LabelledProps {
  readonly label: string
  readonly hint?: string | undefined
  /** What the server, or the form, says is wrong with it. */
  readonly problem?: string | undefined
  /** Draws the control with what ties it to its label and to what is said below it. */
  readonly children: (tied: {
    readonly id: string
    readonly 'aria-invalid': true | undefined
    readonly 'aria-describedby': string | undefined
  }) => ReactNode
}

/** A control with its label, and below it what is wrong with it, or a hint. */
function Labelled({ label, hint, problem, children }: LabelledProps) {
  const id = useId()
  const note = problem ?? hint
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-invalid': problem === undefined ? undefined : true,
        'aria-describedby': note === undefined ? undefined : `${id}-note`,
      })}
      {note !== undefined && (
        <p id={`${id}-note`} className={problem === undefined ? styles.hint : styles.problem}>
          {note}
        </p>
      )}
    </div>
  )
}

interface ChoiceFieldProps {
  readonly label: string
  readonly value: string
  readonly choices: readonly { readonly value: string; readonly label: string }[]
  readonly onChange: (value: string) => void
}

/** One of a few choices. */
export function ChoiceField({ label, value, choices, onChange }: ChoiceFieldProps) {
  const id = useId()
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** What is wrong with fields whose text could not be taken, so that nothing is sent without it. */
interface Problems {
  readonly first: string | undefined
  /** Takes note of what is wrong with a field, and of that nothing is any more. */
  readonly note: (field: string, problem: string | undefined) => void
  readonly clear: () => void
}

/** Fields tell what is wrong with them; the form asks whether anything is. */
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
