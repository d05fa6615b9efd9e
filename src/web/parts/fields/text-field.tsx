import { type InputHTMLAttributes, type TextareaHTMLAttributes, type ReactNode, useId } from 'react'
import styles from './fields.module.css'

interface Typed extends Omit<LabelledProps, 'children'> {
  readonly value: string
  readonly onChange: (value: string) => void
}

export type TextFieldProps = Typed & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'>

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

export type LongTextFieldProps = Typed & Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'>

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
