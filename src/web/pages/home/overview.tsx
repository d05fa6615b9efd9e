import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call.ts'
import { FAMILIES } from './families.ts'
import { NewestCommits } from './newest-commits.tsx'
import { RunningWhere } from './running-where.tsx'
import styles from './home.module.css'

export interface OverviewProps {
  readonly project: Answer<'GET /projects/current'>['project']
  /** What can be begun with from here, beside the tour. */
  readonly begin: ReactNode
}

/** What there is, what is newest, what runs where. */
export function Overview({ project, begin }: OverviewProps) {
  return (
    <div className={styles.overview}>
      <nav aria-label="Families" className={styles.tiles}>
        {FAMILIES.map(({ kind, title }) => (
          <Link key={kind} to="/" search={{ kind }}>
            <b>{project.counts[kind].toLocaleString()}</b>
            {title}
          </Link>
        ))}
      </nav>
      <section aria-labelledby="newest">
        <h2 id="newest">Newest commits</h2>
        <NewestCommits />
      </section>
      <section aria-labelledby="running">
        <h2 id="running">Running where</h2>
        <RunningWhere />
        <div className={styles.more}>
          {begin}
          <Link to="/" search={{ tour: '1' }}>
            Take the tour
          </Link>
        </div>
      </section>
    </div>
  )
}
