import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { Button, MoreButton } from '../../parts/button/button.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { authorName } from '../../parts/chips/chips.tsx'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { places } from '../../shell/places.ts'
import styles from './environment.module.css'

export interface TimelineProps {
  readonly slug: string
  /** Why nothing can be deployed to it now. */
  readonly refusal: string | undefined
  /** Opens the sheet that deploys the revision; `key` is given if it is not the artifact's default one. */
  readonly deploy: (artifact: string, what: End, key: string | undefined) => void
}

const PAGE = 20

type Deployed = Answer<'POST /deployments/log'>['entries'][number]
type Moved = Deployed['moved'][number]
/** The target of a key of an environment. */
type KeyTarget = NonNullable<Moved['to']>

/** The deployments, newest first: from which version to which, by whom, when and why, each with a button that rolls back. */
export function Timeline({ slug, refusal, deploy }: TimelineProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /deployments/log',
    { body: { environment_ref: { slug }, windowing: { limit: PAGE } } },
  )
  const entries = data?.pages.flatMap((page) => page.entries) ?? []
  if (data && entries.length === 0) {
    return (
      <Empty action={<Link to={places.environments()}>Deployments of all environments</Link>}>
        Nothing has been deployed to {slug} yet.
      </Empty>
    )
  }
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading the timeline" lines={12} />
  // The newest entry of a key says what it runs now.
  const now = new Map(
    entries.toReversed().flatMap(({ moved }) => moved.map(({ key, to }) => [key, to] as const)),
  )
  return (
    <>
      <ol className={styles.timeline} aria-label={`Deployments to ${slug}`}>
        {entries.map((entry) => (
          <Entry
            key={entry.environment_revision.id}
            entry={entry}
            now={now}
            refusal={refusal}
            deploy={deploy}
          />
        ))}
      </ol>
      <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }}>Show older deployments</MoreButton>
    </>
  )
}

interface EntryProps {
  readonly entry: Deployed
  readonly now: ReadonlyMap<string, KeyTarget | undefined>
  readonly refusal: string | undefined
  readonly deploy: TimelineProps['deploy']
}

const CHANGES_SHOWN_AT_FIRST = 10

function Entry({ entry, now, refusal, deploy }: EntryProps) {
  const { environment_revision: revision, author, date, message, subject, moved: changes } = entry
  const [isOpen, setOpen] = useState(false)
  const shown = isOpen ? changes : changes.slice(0, CHANGES_SHOWN_AT_FIRST)
  return (
    <li>
      <p className={styles.head}>
        <b dir="auto">{message ?? subject}</b>
        <span className="muted">
          <bdi>{authorName(author)}</bdi> · <Ago date={date} /> · v{revision.version} of the environment
        </span>
      </p>
      {changes.length === 0 && <p className="muted">It changed no deployment.</p>}
      <ul>
        {shown.map((change) => (
          <Change
            key={change.key}
            change={change}
            now={now.get(change.key)}
            refusal={refusal}
            deploy={deploy}
          />
        ))}
      </ul>
      {changes.length > CHANGES_SHOWN_AT_FIRST && !isOpen && (
        <Button kind="quiet" onClick={() => setOpen(true)}>
          {(changes.length - CHANGES_SHOWN_AT_FIRST).toLocaleString()} more
        </Button>
      )}
    </li>
  )
}

function Change({
  change: { key, from, to },
  now,
  refusal,
  deploy,
}: {
  readonly change: Moved
  readonly now: KeyTarget | undefined
  readonly refusal: string | undefined
  readonly deploy: TimelineProps['deploy']
}) {
  const artifact = artifactOf(key, to ?? from)
  const isWorkflow = (to ?? from)?.kind === 'workflow'
  // The version to roll back to: the one deployed here, or the one before if that runs now.
  const back = to?.revision !== undefined && to.revision === now?.revision ? from : to
  const ownKey = key === `${artifact}.revision` ? undefined : key
  return (
    <li className={styles.change}>
      <span>
        {isWorkflow ? <Link to={places.artifact(artifact)}>{artifact}</Link> : artifact}
        {ownKey !== undefined && <code> {key}</code>}
      </span>
      <span>
        {from && <Version artifact={artifact} target={from} />}
        {from && to && ' → '}
        {to && <Version artifact={artifact} target={to} />}
        {!from && ', for the first time'}
        {!to && ' was taken down'}
      </span>
      {back?.revision !== undefined && back.kind === 'workflow' && back.revision !== now?.revision && (
        <Button
          refusal={refusal}
          onClick={() => deploy(artifact, { kind: 'revision', slug: back.revision ?? '' }, ownKey)}
        >
          Roll back to {wordsOf(artifact, back)}…
        </Button>
      )}
    </li>
  )
}

/** From the key, if nothing else is known. */
function artifactOf(key: string, target: KeyTarget | undefined): string {
  return target?.artifact ?? key.replace(/\.revision$/, '')
}

interface VersionProps {
  readonly artifact: string
  readonly target: KeyTarget
}

function Version({ artifact, target }: VersionProps) {
  const { kind, revision } = target
  const words = wordsOf(artifact, target)
  if (revision === undefined || kind !== 'workflow') return <>{words}</>
  return <Link to={places.revision(artifact, revision)}>{words}</Link>
}

/** `v3`; if the variant is not named like the artifact, `v3 of warmer`. */
function wordsOf(artifact: string, { variant, revision, version }: KeyTarget): string {
  const text = version === undefined ? (revision ?? 'something') : `v${version}`
  return variant === undefined || variant === artifact ? text : `${text} of ${variant}`
}
