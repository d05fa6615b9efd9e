import { Link } from '@tanstack/react-router'
import { type Evaluation, EvaluationState } from '../../parts/evaluation/evaluation-state.tsx'
import { percent } from '../../parts/evaluation/shown-numbers.ts'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import type { Column } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'
import styles from './evaluations.module.css'

export interface Picking {
  readonly picked: readonly string[]
  readonly pick: (id: string) => void
}

/** What the list says of a run. */
export function evaluationColumns({ picked, pick }: Picking): readonly Column<Evaluation>[] {
  return [
    {
      name: 'Run',
      cell: ({ id, state, application, testset }) => (
        <span className={styles.run}>
          <input
            type="checkbox"
            checked={picked.includes(id)}
            onChange={() => pick(id)}
            aria-label={`Pick ${application.revision_slug} with ${testset.revision_slug}, ${id}`}
          />
          <Link to={places.evaluation(id)}>
            <EvaluationState state={state} />
          </Link>
        </span>
      ),
    },
    {
      name: 'Prompt',
      cell: ({ application: { artifact_slug: slug, revision_slug: revision, version } }) => (
        <span className={styles.named}>
          <Link to={places.artifact(slug)}>{slug}</Link>
          <RevisionChip to={places.revision(slug, revision)} version={version} />
        </span>
      ),
    },
    {
      name: 'Testset',
      cell: ({ testset: { artifact_slug: slug, version } }) => (
        <span className={styles.named}>
          <Link to={places.testset(slug)}>{slug}</Link>
          <span className={styles.muted}>v{version}</span>
        </span>
      ),
    },
    {
      name: 'Rows',
      number: true,
      cell: ({ rows, summary }) =>
        summary.done === rows
          ? rows.toLocaleString()
          : `${summary.done.toLocaleString()} of ${rows.toLocaleString()}`,
    },
    {
      name: 'Failed to run',
      number: true,
      cell: ({ summary }) => (summary.failed === 0 ? '0' : <b>{summary.failed.toLocaleString()}</b>),
    },
    {
      name: 'Passed',
      cell: ({ evaluators, summary }) => (
        <ul className={styles.rates}>
          {evaluators.map(({ name }) => (
            <li key={name}>
              <span>{name}</span>
              <b>{percent(summary.evaluators[name]?.success_rate)}</b>
            </li>
          ))}
          {evaluators.length === 0 && <li className={styles.muted}>no evaluators</li>}
        </ul>
      ),
    },
    { name: 'When', number: true, cell: ({ created_at: date }) => <Ago date={date} /> },
    {
      name: 'By',
      cell: ({ created_by: by }) => (
        <span title={by} className={styles.by}>
          {authorName(by)}
        </span>
      ),
    },
  ]
}
