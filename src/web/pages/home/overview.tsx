import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { FAMILIES } from '../../api/kinds.ts'
import styles from './home.module.css'
import { useRoute } from '../../api/use-route.ts'
import { RevisionChip, hueOf } from '../../parts/chips/chips.tsx'
import { Failure, Skeleton, Empty } from '../../parts/states/states.tsx'
import { Button } from '../../parts/button/button.tsx'
import { places } from '../../shell/places.ts'

export interface OverviewProps {
  readonly project: Answer<'GET /projects/current'>['project']
  readonly takeTour: () => void
}

/** The counts, the latest changes, and the deployments. */
export function Overview({ project, takeTour }: OverviewProps) {
  const others = useRoute('POST /workflows/query', {
    body: {
      workflow: { flags: { is_application: false, is_evaluator: false } },
      windowing: { limit: 1, count_total: true },
    },
  })
  return (
    <div className={styles.overview}>
      <nav aria-label="Lists" className={styles.tiles}>
        {FAMILIES.map(({ kind, title }) => (
          <Link key={kind} to="/" search={{ kind }}>
            <b>
              {(kind === 'workflows' ? others.data?.total : project.counts[kind])?.toLocaleString() ?? ' '}
            </b>
            {title}
          </Link>
        ))}
      </nav>
      <section aria-labelledby="newest">
        <h2 id="newest">Latest changes</h2>
        <LatestChanges />
      </section>
      <section aria-labelledby="running">
        <h2 id="running">Deployments</h2>
        <Deployments />
        <div className="row gap-above">
          <Button kind="quiet" onClick={takeTour}>
            Take the tour
          </Button>
        </div>
      </section>
    </div>
  )
}

const ASK = { body: { windowing: { limit: 12, order: 'descending' } } } as const

/** The newest revisions of all families in one list. */
function LatestChanges() {
  const workflows = useRoute('POST /workflows/revisions/query', ASK)
  const testsets = useRoute('POST /testsets/revisions/query', {
    body: { ...ASK.body, include_testcases: false, include_testcase_ids: false } as typeof ASK.body,
  })
  const error = workflows.error ?? testsets.error
  if (error) return <Failure error={error} />
  if (!workflows.data || !testsets.data) return <Skeleton label="Loading the latest changes" />
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

/** The environment's page lists all. */
const MAX_PINS_NAMED = 8

/** What each environment runs. */
function Deployments() {
  const { data, error } = useRoute('POST /simple/environments/query', { body: {} })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Loading the environments" lines={3} />
  const running = data.environments.map((it) => ({ ...it, pins: pinsOf(it.data) }))
  if (running.every(({ pins }) => pins.length === 0)) {
    return (
      <Empty
        action={<Link to={places.environments()}>All environments</Link>}
        command={`curl "$BRANCHPOINT_URL/applications/revisions/deploy" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"application_revision_ref": {"slug": "my-prompt", "version": 1}, "environment_ref": {"slug": "production"}}'`}
      >
        Nothing is deployed yet. An environment says which version of a prompt your program gets.
      </Empty>
    )
  }
  return (
    <dl className={styles.running}>
      {running.map(({ slug, pins }) => (
        <div key={slug}>
          <dt>
            <span aria-hidden style={{ background: hueOf(slug) }} />
            <Link to={places.environment(slug)}>{slug}</Link>
          </dt>
          <dd>
            {pins.length === 0 && 'nothing yet'}
            {pins.slice(0, MAX_PINS_NAMED).map(({ artifact, version, revision }) => (
              <Link
                key={artifact}
                to={revision ? places.revision(artifact, revision) : places.artifact(artifact)}
              >
                {artifact} {version !== undefined && <b>v{version}</b>}
              </Link>
            ))}
            {pins.length > MAX_PINS_NAMED && (
              <Link to={places.environment(slug)}>and {pins.length - MAX_PINS_NAMED} more</Link>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface Pin {
  readonly artifact: string
  readonly revision: string | undefined
  readonly version: number | undefined
}

/** The deployments in an environment's payload: `references`, by key. */
function pinsOf(data: unknown): readonly Pin[] {
  const references = (data as { readonly references?: Readonly<Record<string, unknown>> }).references ?? {}
  return Object.entries(references).map(([key, pinned]) => {
    const named = Object.entries((pinned ?? {}) as Readonly<Record<string, Named | undefined>>)
    const revision = named.find(([name]) => name.endsWith('_revision'))?.[1]
    const artifact = named.find(([name]) => !/_(?:revision|variant)$/.test(name))?.[1]
    return {
      artifact: artifact?.slug ?? key.replace(/\.revision$/, ''),
      revision: revision?.slug,
      version: revision?.version === undefined ? undefined : Number(revision.version),
    }
  })
}

interface Named {
  readonly slug?: string
  readonly version?: number | string
}
