import styles from './states.module.css'

export interface FailureProps {
  readonly error: unknown
  readonly retry?: () => unknown
}

/** What went wrong, in the server's own sentence. */
export function Failure({ error, retry }: FailureProps) {
  return (
    <div role="alert" className={styles.failure}>
      <p dir="auto">{error instanceof Error ? error.message : 'Something went wrong.'}</p>
      {retry && (
        <button type="button" onClick={() => void retry()}>
          Try again
        </button>
      )}
    </div>
  )
}
