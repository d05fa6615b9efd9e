import type { ReactNode } from 'react'
import styles from './settings.module.css'

export interface FactsProps {
  /** What they are about, for whoever listens. */
  readonly label: string
  readonly facts: readonly (readonly [string, ReactNode])[]
}

/** Some names with a value each. */
export function Facts({ label, facts }: FactsProps) {
  return (
    <dl className={styles.facts} aria-label={label}>
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
