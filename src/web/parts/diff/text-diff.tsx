import styles from './diff.module.css'

export interface TextDiffProps {
  /** What the texts are, for whoever listens. */
  readonly label: string
  readonly base: string
  readonly head: string
}

/** Two texts side by side. */
export function TextDiff({ label, base, head }: TextDiffProps) {
  return (
    <div className={styles.sides} role="group" aria-label={label}>
      <pre>{base}</pre>
      <pre>{head}</pre>
    </div>
  )
}
