import { Link } from '@tanstack/react-router'
import styles from './tabs.module.css'

interface LinkTab {
  readonly label: string
  readonly to: string
  readonly search?: Readonly<Record<string, unknown>>
  readonly isHere: boolean
  readonly count?: number | undefined
}

/** Views of one thing. Each has an address. */
export function LinkTabs({ label, tabs }: { readonly label: string; readonly tabs: readonly LinkTab[] }) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(({ label: name, to, search, isHere, count }) => (
        <Link
          key={name}
          to={to}
          search={search ?? {}}
          // The page says which one is here: an address with less behind its `?` would count as one that is.
          activeOptions={{ exact: true, includeSearch: true }}
          aria-current={isHere ? 'page' : undefined}
        >
          {name}
          {count !== undefined && <span>{count.toLocaleString()}</span>}
        </Link>
      ))}
    </nav>
  )
}

interface TogglesProps<V extends string | undefined> {
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
