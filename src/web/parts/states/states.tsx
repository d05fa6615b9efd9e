import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Problem } from '../../api/call.ts'
import { Copyable } from '../copy/copyable.tsx'
import styles from './states.module.css'

interface EmptyProps {
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

interface FailureProps {
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

interface NotThereProps {
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

interface ProgressProps {
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

interface SkeletonProps {
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
