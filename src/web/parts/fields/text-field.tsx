import type { InputHTMLAttributes, TextareaHTMLAttributes } from 'react'
import { Labelled, type LabelledProps } from './labelled.tsx'

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
