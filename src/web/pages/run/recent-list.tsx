import { Ago } from '../../parts/time/ago.tsx'
import { duration } from '../../parts/time/duration.ts'
import { type RecentRun, useRecentRuns } from './recent-runs.ts'
import styles from './run.module.css'

export interface RecentRunsProps {
  readonly slug: string
  readonly show: (run: RecentRun) => void
}

/** What was run in this window before: one is shown again with its inputs. */
export function RecentRuns({ slug, show }: RecentRunsProps) {
  const runs = useRecentRuns(slug)
  if (runs.length === 0) return null
  return (
    <section aria-label="Runs in this window" className={styles.recent}>
      <h2>Runs in this window</h2>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <button type="button" onClick={() => show(run)}>
              <span>
                {run.variant} v{run.version}
              </span>
              <span data-status={run.outcome.status}>{run.outcome.status}</span>
              <span className={styles.clip} dir="auto">
                {run.inputs}
              </span>
              <span>{run.outcome.ms === undefined ? '' : duration(run.outcome.ms)}</span>
              <Ago date={run.at} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
