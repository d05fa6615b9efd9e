import { type TextareaHTMLAttributes, useId } from 'react'
import styles from './fields.module.css'

export interface LongTextFieldProps extends Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'onChange'> {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string
  /** What the server, or the form, says is wrong with it. */
  readonly problem?: string | undefined
}

/** Some lines of text with their label, and below them what is wrong with them. */
export function LongTextField({ label, value, onChange, hint, problem, ...rest }: LongTextFieldProps) {
  const id = useId()
  const note = problem ?? hint
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      <textarea
        {...rest}
        id={id}
        value={value}
        aria-invalid={problem !== undefined || undefined}
        aria-describedby={note === undefined ? undefined : `${id}-note`}
        onChange={(event) => onChange(event.target.value)}
      />
      {note !== undefined && (
        <p id={`${id}-note`} className={problem === undefined ? styles.hint : styles.problem}>
          {note}
        </p>
      )}
    </div>
  )
}
