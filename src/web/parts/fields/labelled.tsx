import { type ReactNode, useId } from 'react'
import styles from './fields.module.css'

export interface LabelledProps {
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
export function Labelled({ label, hint, problem, children }: LabelledProps) {
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
