import { Link } from '@tanstack/react-router'
import type { Problem } from '../../api/problem.ts'
import styles from './states.module.css'

export interface NotThereProps {
  readonly problem: Problem
  /** The page of one of the names that are near. */
  readonly placeOf: (slug: string) => string
}

/** Nothing has the name in the address: the server's sentence, the names that are near, and whether it lies in the trash. */
export function NotThere({ problem, placeOf }: NotThereProps) {
  const { details, trashed_at: trashedAt } = problem.document
  const near = (details as { readonly near?: unknown } | undefined)?.near
  return (
    <div role="alert" className={styles.empty}>
      <p>{problem.message}</p>
      {Array.isArray(near) && near.length > 0 && (
        <ul className={styles.near}>
          {near.map((slug) => (
            <li key={String(slug)}>
              <Link to={placeOf(String(slug))}>{String(slug)}</Link>
            </li>
          ))}
        </ul>
      )}
      {trashedAt !== undefined && <Link to="/settings/trash">Look into the trash</Link>}
      <Link to="/">Go to the start</Link>
    </div>
  )
}
