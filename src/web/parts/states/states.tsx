import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Problem } from '../../api/call.ts'
import { ApiLines } from '../copy/api-lines.tsx'
import styles from './states.module.css'

interface EmptyProps {
  /** A sentence that explains what belongs here. */
  readonly children: ReactNode
  /** A button that creates the first one. */
  readonly action?: ReactNode
  /** A `curl` or `git` command that does the same. */
  readonly command?: string
}

/** Shown where there is nothing yet. */
export function Empty({ children, action, command }: EmptyProps) {
  return (
    <div className={styles.empty}>
      <p>{children}</p>
      {action}
      {command !== undefined && <ApiLines lines={[{ label: 'The same in a terminal', text: command }]} />}
    </div>
  )
}

interface FailureProps {
  readonly error: unknown
  readonly retry?: () => unknown
}

/** An error, by the server's message. */
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
  /** The page of a similar name. */
  readonly placeOf: (slug: string) => string
}

/** Shown if nothing has the name in the address: the server's message, similar names, and a link to the trash. */
export function NotThere({ problem, placeOf }: NotThereProps) {
  const { details, trashed_at: trashedAt } = problem.document
  const near = (details as { readonly near?: unknown } | undefined)?.near
  return (
    <div role="alert" className={styles.empty}>
      <p>{problem.message}</p>
      {Array.isArray(near) && near.length > 0 && (
        <ul className="row-wide">
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
  /** What is in progress. */
  readonly label: string
  readonly done: number
  /** Undefined if unknown. */
  readonly total?: number | undefined
  readonly unit?: string
}

/** A progress bar with numbers. */
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
  /** What is loading, for screen readers. */
  readonly label: string
  readonly lines?: number
}

/** A placeholder while content loads. */
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
