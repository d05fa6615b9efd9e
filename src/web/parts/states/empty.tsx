import type { ReactNode } from 'react'
import { Copyable } from '../copy/copyable.tsx'
import styles from './states.module.css'

export interface EmptyProps {
  /** One sentence: what this is for. */
  readonly children: ReactNode
  /** The button that makes the first one. */
  readonly action?: ReactNode
  /** A line of `curl` or `git` that does the same. */
  readonly command?: string
}

/** What stands where there is nothing yet. */
export function Empty({ children, action, command }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
      {command !== undefined && <Copyable text={command} label="The same in a terminal" />}
    </div>
  )
}
