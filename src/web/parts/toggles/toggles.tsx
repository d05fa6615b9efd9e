import styles from './toggles.module.css'

export interface TogglesProps<V extends string | undefined> {
  /** What they choose, for whoever listens. */
  readonly label: string
  readonly choices: readonly { readonly value: V; readonly label: string }[]
  readonly value: V
  readonly onChange: (value: V) => void
}

/** A few views or filters side by side, of which one is on. */
export function Toggles<V extends string | undefined>({ label, choices, value, onChange }: TogglesProps<V>) {
  return (
    <div role="group" aria-label={label} className={styles.toggles}>
      {choices.map((choice) => (
        <button
          key={choice.label}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
        >
          {choice.label}
        </button>
      ))}
    </div>
  )
}
