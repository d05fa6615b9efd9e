import { Link } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { hueOf } from '../../parts/environment/environment-dot.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { places } from '../../shell/places.ts'
import styles from './home.module.css'

/** So many pins of an environment are named here; its page has them all. */
const MOST = 8

/** What each environment runs. */
export function RunningWhere() {
  const { data, error } = useRoute('POST /simple/environments/query', { body: {} })
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Loading the environments" lines={3} />
  const running = data.environments.map((it) => ({ ...it, pins: pinsOf(it.data) }))
  if (running.every(({ pins }) => pins.length === 0)) {
    return (
      <Empty
        action={<Link to={places.environments()}>The environments</Link>}
        command={`curl "$BRANCHPOINT_URL/applications/revisions/deploy" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"application_revision_ref": {"slug": "my-prompt", "version": 1}, "environment_ref": {"slug": "production"}}'`}
      >
        Nothing is deployed yet. An environment says which version of a prompt runs where.
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
            {pins.length === 0 && 'nothing'}
            {pins.slice(0, MOST).map(({ artifact, version, revision }) => (
              <Link
                key={artifact}
                to={revision ? places.revision(artifact, revision) : places.artifact(artifact)}
              >
                {artifact} {version !== undefined && <b>v{version}</b>}
              </Link>
            ))}
            {pins.length > MOST && <Link to={places.environment(slug)}>and {pins.length - MOST} more</Link>}
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

/** The pins in an environment's payload: `references`, by key, each with references of the surface that deployed it. */
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
