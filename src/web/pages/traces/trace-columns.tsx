import { Link } from '@tanstack/react-router'
import type { Column } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { duration } from '../../parts/time/duration.ts'
import { places } from '../../shell/places.ts'
import type { TraceHead } from './trace-head.ts'
import styles from './traces.module.css'

/** A trace as a row of the list. */
export interface TraceRow extends TraceHead {
  readonly id: string
}

/** What the list says of a trace: what the span says that heads it. */
export const TRACE_COLUMNS: readonly Column<TraceRow>[] = [
  {
    name: 'Trace',
    cell: ({ id, name, errors }) => (
      <Link to={places.trace(id)} className={styles.name}>
        <span className={errors > 0 ? styles.failed : styles.ok}>
          <span aria-hidden>{errors > 0 ? '!' : '✓'}</span>
          <span className="visually-hidden">{errors > 0 ? 'with errors:' : 'succeeded:'}</span>
        </span>{' '}
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    name: 'Ran',
    cell: ({ ran }) =>
      ran ? (
        <span className={styles.ran}>
          <Link to={places.artifact(ran.slug)}>{ran.slug}</Link>{' '}
          {ran.revision?.slug !== undefined && (
            <Link to={places.revision(ran.slug, ran.revision.slug)}>v{ran.revision.version}</Link>
          )}
        </span>
      ) : (
        <span className={styles.muted}>–</span>
      ),
  },
  { name: 'Input', cell: ({ input }) => <span className={styles.excerpt}>{input}</span> },
  {
    name: 'Output',
    cell: ({ output, message }) =>
      message === undefined ? (
        <span className={styles.excerpt}>{output}</span>
      ) : (
        <span className={`${styles.excerpt} ${styles.failed}`}>{message}</span>
      ),
  },
  { name: 'Took', number: true, cell: ({ took }) => duration(took) },
  { name: 'Tokens', number: true, cell: ({ tokens }) => tokens?.toLocaleString() ?? '–' },
  { name: 'When', number: true, cell: ({ began }) => <Ago date={began} /> },
]
