import { Link } from '@tanstack/react-router'
import { type Evaluation, EvaluationState } from '../../parts/evaluation/evaluation-state.tsx'
import { judgePairs } from '../../parts/evaluation/judge-pairs.ts'
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
  /** All that are listed, the newest first. */
  readonly rows: readonly Evaluation[]
}

/** What the list says of a run. */
export function evaluationColumns({ picked, pick, rows: all }: Picking): readonly Column<Evaluation>[] {
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
      cell: (run) => {
        const { evaluators, summary } = run
        const before = judgedBefore(run, all)
        return (
          <ul className={styles.rates}>
            {evaluators.map(({ name, revision_id: id, version }) => (
              <li key={name}>
                <span>
                  {name} v{version}
                </span>
                <b>{percent(summary.evaluators[name]?.success_rate)}</b>
                {before.has(id) && (
                  <em>not comparable with the run before, which v{before.get(id)} judged</em>
                )}
              </li>
            ))}
            {evaluators.length === 0 && <li className={styles.muted}>no evaluators</li>}
            {run.outputs_from !== undefined && (
              <li className={styles.muted}>
                <Link to={places.evaluation(run.outputs_from)}>outputs of an older run</Link>
              </li>
            )}
          </ul>
        )
      },
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

/** The evaluators of a run, by revision, that judged the run before it by another version; of runs of one prompt on one testset. */
function judgedBefore(run: Evaluation, all: readonly Evaluation[]): ReadonlyMap<string, number> {
  const before = all
    .slice(all.indexOf(run) + 1)
    .find(
      ({ application, testset }) =>
        application.artifact_id === run.application.artifact_id &&
        testset.artifact_id === run.testset.artifact_id,
    )
  const pairs = before ? judgePairs(before, run) : []
  return new Map(
    pairs.flatMap(({ left, right, isComparable }): [string, number][] =>
      isComparable ? [] : [[right.revision_id, left.version]],
    ),
  )
}
