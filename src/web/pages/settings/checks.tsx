import styles from './settings.module.css'

export interface ChecksProps<T extends string> {
  readonly legend: string
  readonly choices: readonly { readonly value: T; readonly label: string }[]
  readonly value: readonly T[]
  readonly onChange: (value: readonly T[]) => void
}

/** Any number of some choices. */
export function Checks<T extends string>({ legend, choices, value, onChange }: ChecksProps<T>) {
  return (
    <fieldset className={styles.checks}>
      <legend>{legend}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="checkbox"
            checked={value.includes(choice.value)}
            onChange={({ target }) =>
              onChange(
                choices
                  .map((it) => it.value)
                  .filter((it) => (it === choice.value ? target.checked : value.includes(it))),
              )
            }
          />
          {choice.label}
        </label>
      ))}
    </fieldset>
  )
}
