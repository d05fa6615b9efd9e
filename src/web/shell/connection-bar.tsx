import { useConnection } from './live.ts'
import styles from './connection-bar.module.css'

/** A bar at the top while the server cannot be reached. */
export function ConnectionBar() {
  const connection = useConnection()
  return (
    <div role="status">
      {connection === 'lost' && (
        <p className={styles.bar}>
          The server does not answer. Drafts are kept in this browser; the page goes on by itself when it is
          back.
        </p>
      )}
    </div>
  )
}
