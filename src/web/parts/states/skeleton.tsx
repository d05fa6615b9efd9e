import styles from './states.module.css'

export interface SkeletonProps {
  /** What is being loaded, for whoever listens. */
  readonly label: string
  readonly lines?: number
}

/** Lines in the shape of what comes. */
export function Skeleton({ label, lines = 6 }: SkeletonProps) {
  return (
    <div className={styles.skeleton} role="status">
      <span className="visually-hidden">{label} …</span>
      {Array.from({ length: lines }, (_, at) => (
        <div key={at} aria-hidden style={{ width: `${90 - ((at * 17) % 40)}%` }} />
      ))}
    </div>
  )
}
