import { Link } from '@tanstack/react-router'
import styles from './tabs.module.css'

interface LinkTab {
  readonly label: string
  readonly to: string
  readonly search?: Readonly<Record<string, unknown>>
  readonly isHere: boolean
  readonly count?: number | undefined
}

/** Links to the views of a page. */
export function LinkTabs({ label, tabs }: { readonly label: string; readonly tabs: readonly LinkTab[] }) {
  return (
    <nav aria-label={label} className={styles.tabs}>
      {tabs.map(({ label: name, to, search, isHere, count }) => (
        <Link
          key={name}
          to={to}
          search={search ?? {}}
          // The page decides which one is current: the router would match shorter addresses, too.
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
  /** The name of the group for screen readers. */
  readonly label: string
  readonly choices: readonly { readonly value: V; readonly label: string }[]
  readonly value: V
  readonly onChange: (value: V) => void
}

/** Buttons for a few views or filters, one of which is on. */
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
