import styles from './states.module.css'

export interface ProgressProps {
  /** What is under way. */
  readonly label: string
  readonly done: number
  /** Undefined where nobody knows how much it is. */
  readonly total?: number | undefined
  readonly unit?: string
}

/** How far long work is, with numbers. */
export function Progress({ label, done, total, unit = '' }: ProgressProps) {
  const shown =
    total === undefined ? done.toLocaleString() : `${done.toLocaleString()} of ${total.toLocaleString()}`
  return (
    <div className={styles.progress}>
      <progress
        aria-label={label}
        {...(total === undefined ? {} : { value: done, max: Math.max(total, 1) })}
      />
      <span>
        {label}: {shown} {unit}
      </span>
    </div>
  )
}
