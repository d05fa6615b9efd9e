import { Link } from '@tanstack/react-router'
import styles from './link-tabs.module.css'

export interface LinkTab {
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
