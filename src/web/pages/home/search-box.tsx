import { Search } from 'lucide-react'
import styles from './home.module.css'
import type { Family } from './families.ts'

export interface SearchBoxProps {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly family: Family | undefined
}

/** Searches as one types. */
export function SearchBox({ value, onChange, family }: SearchBoxProps) {
  const label = family
    ? `Search ${family.title.toLowerCase()} by name, message or text`
    : 'Search names, messages and texts'
  return (
    <search className={styles.search}>
      <Search size={16} aria-hidden />
      <input
        type="search"
        dir="auto"
        aria-label={label}
        placeholder={label}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </search>
  )
}
