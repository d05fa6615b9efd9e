import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { usePages } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'
import styles from './environment.module.css'
import {
  changesOf,
  type EnvironmentRevision,
  type KeyChange,
  type KeyTarget,
  pinsOf,
} from './timeline-changes.ts'

export interface TimelineProps {
  readonly slug: string
  /** Opens the sheet that deploys the revision of the artifact; `key` is given where it is not the artifact's own. */
  readonly deploy: (artifact: string, what: End, key: string | undefined) => void
}

const PAGE = 20

/** What was deployed, newest first: what moved from which version to which, by whom, when and why; each point can be gone back to. */
export function Timeline({ slug, deploy }: TimelineProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /environments/revisions/log',
    { body: { environment_ref: { slug }, include_data: true, windowing: { limit: PAGE } } },
  )
  const isEmpty = error instanceof Problem && /_not_found$/.test(error.code)
  const revisions = data?.pages.flatMap((page) => page.environment_revisions) ?? []
  if (isEmpty || (data && revisions.length === 0)) {
    return (
      <Empty
        action={<Link to={places.environments()}>The board of deployments</Link>}
        command={`curl "$BRANCHPOINT_URL/workflows/revisions/deploy" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '{"workflow_revision_ref": {"slug": "my-prompt", "version": 1}, "environment_ref": {"slug": "${slug}"}}'`}
      >
        Nothing was ever deployed to {slug}.
      </Empty>
    )
  }
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading the timeline" lines={12} />
  const now = pinsOf(revisions[0]?.data)
  return (
    <>
      <ol className={styles.timeline} aria-label={`Deployments to ${slug}`}>
        {changesOf(revisions, hasNextPage).map(({ revision, changes }) => (
          <Entry key={revision.id} revision={revision} changes={changes} now={now} deploy={deploy} />
        ))}
      </ol>
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {isFetchingNextPage ? 'Loading …' : 'Show older deployments'}
        </Button>
      )}
    </>
  )
}

interface EntryProps {
  readonly revision: EnvironmentRevision
  readonly changes: readonly KeyChange[]
  readonly now: ReadonlyMap<string, KeyTarget>
  readonly deploy: TimelineProps['deploy']
}

/** So many changes of one deployment are shown at first. */
const MOST = 10

function Entry({ revision: { version, author, date, message, subject }, changes, now, deploy }: EntryProps) {
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? changes : changes.slice(0, MOST)
  return (
    <li>
      <p className={styles.head}>
        <b>{message ?? subject}</b>
        <span className={styles.by}>
          {authorName(author)} · <Ago date={date} /> · v{version} of the environment
        </span>
      </p>
      {changes.length === 0 && <p className={styles.by}>It moved nothing.</p>}
      <ul>
        {shown.map((change) => (
          <Change key={change.key} change={change} now={now.get(change.key)} deploy={deploy} />
        ))}
      </ul>
      {changes.length > MOST && !isOpen && (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          {(changes.length - MOST).toLocaleString()} more
        </Button>
      )}
    </li>
  )
}

function Change({
  change: { key, from, to },
  now,
  deploy,
}: {
  readonly change: KeyChange
  readonly now: KeyTarget | undefined
  readonly deploy: TimelineProps['deploy']
}) {
  const artifact = to?.artifact ?? from?.artifact ?? key
  // What ran from here on, or before, where it is what runs now.
  const back = to?.revision !== undefined && to.revision === now?.revision ? from : to
  const ownKey = key === `${artifact}.revision` ? undefined : key
  return (
    <li className={styles.change}>
      <span>
        {to?.isWorkflow || from?.isWorkflow ? (
          <Link to={places.artifact(artifact)}>{artifact}</Link>
        ) : (
          artifact
        )}
        {ownKey !== undefined && <code> {key}</code>}
      </span>
      <span>
        {from && <Version target={from} />}
        {from && to && ' → '}
        {to && <Version target={to} />}
        {!from && ', for the first time'}
        {!to && ' was taken down'}
      </span>
      {back?.revision !== undefined && back.isWorkflow && back.revision !== now?.revision && (
        <Button onClick={() => deploy(artifact, { kind: 'revision', slug: back.revision ?? '' }, ownKey)}>
          Roll back to v{back.version}…
        </Button>
      )}
    </li>
  )
}

function Version({
  target: { artifact, variant, revision, version, isWorkflow },
}: {
  readonly target: KeyTarget
}) {
  const text = version === undefined ? (revision ?? 'something') : `v${version}`
  const branch = variant === undefined || variant === artifact ? '' : ` of ${variant}`
  if (revision === undefined || !isWorkflow) return <>{text + branch}</>
  return (
    <>
      <Link to={places.revision(artifact, revision)}>{text}</Link>
      {branch}
    </>
  )
}
