import type { ReactNode } from 'react'
import styles from './settings.module.css'

export interface LeadProps {
  /** What this is for, in a sentence or two. */
  readonly children: ReactNode
  readonly action?: ReactNode
  /** Why what needs a scope is not shown or cannot be done. */
  readonly refusal?: string | undefined
}

/** The head of a part of the settings. */
export function Lead({ children, action, refusal }: LeadProps) {
  return (
    <div className={styles.lead}>
      <p>{children}</p>
      {action}
      {refusal !== undefined && <p className={styles.refusal}>{refusal}</p>}
    </div>
  )
}
