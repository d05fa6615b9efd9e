import { Link } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { places } from '../../shell/places.ts'
import styles from './home.module.css'

const ASK = { body: { windowing: { limit: 12, order: 'descending' } } } as const

/** The newest revisions of prompts, evaluators, workflows and testsets, in one list. */
export function NewestCommits() {
  const workflows = useRoute('POST /workflows/revisions/query', ASK)
  const testsets = useRoute('POST /testsets/revisions/query', {
    body: { ...ASK.body, include_testcases: false, include_testcase_ids: false } as typeof ASK.body,
  })
  const error = workflows.error ?? testsets.error
  if (error) return <Failure error={error} />
  if (!workflows.data || !testsets.data) return <Skeleton label="Loading the newest commits" />
  const newest = [
    ...workflows.data.workflow_revisions.map((it) => ({
      ...it,
      to: places.revision(it.artifact_slug, it.slug),
      of: places.artifact(it.artifact_slug),
    })),
    ...testsets.data.testset_revisions.map((it) => ({
      ...it,
      to: places.testsetVersion(it.artifact_slug, it.variant_slug, Number(it.version)),
      of: places.testset(it.artifact_slug),
    })),
  ]
    .sort((left, right) => right.date.localeCompare(left.date))
    .slice(0, ASK.body.windowing.limit)
  return (
    <ul className={styles.commits}>
      {newest.map((it) => (
        <li key={it.id}>
          <div>
            <Link to={it.of}>
              <b>{it.artifact_slug}</b>
            </Link>
            {it.variant_slug !== it.artifact_slug && <code>{it.variant_slug}</code>}
            <span dir="auto">{it.subject}</span>
          </div>
          <RevisionChip to={it.to} version={Number(it.version)} author={it.author} date={it.date} />
        </li>
      ))}
    </ul>
  )
}
