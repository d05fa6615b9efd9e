import { Link } from '@tanstack/react-router'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { MoreButton } from '../button/button.tsx'
import { EnvironmentDot } from '../chips/chips.tsx'
import { Failure } from '../states/states.tsx'
import { places } from '../../shell/places.ts'

type Dependent = Answer<'POST /workflows/revisions/dependents'>['dependents'][number]

export interface DependentsProps {
  /** An artifact, a variant or a revision, by reference. */
  readonly of: NonNullable<Ask<'POST /workflows/revisions/dependents'>['body']>
  /** Leaves out the environments, where the page lists them by itself. */
  readonly embedsOnly?: boolean
}

/** The artifacts that embed it, and the environments that run it. */
export function Dependents({ of, embedsOnly = false }: DependentsProps) {
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage } = usePages(
    'POST /workflows/revisions/dependents',
    {
      body: { ...of, windowing: { limit: 20, order: 'descending' } },
    },
  )
  const found = data?.pages.flatMap(({ dependents }) => dependents) ?? []
  const all = embedsOnly ? found.filter(({ environment }) => !environment) : found
  return (
    <section>
      <h2>Used by</h2>
      {error && <Failure error={error} />}
      {data && all.length === 0 && (
        <p className="muted-small">{embedsOnly ? 'No other prompt uses it.' : 'Not used anywhere yet.'}</p>
      )}
      <ul className="lines">
        {all.map((dependent, at) => (
          <li key={at}>
            <DependentLine dependent={dependent} />
          </li>
        ))}
      </ul>
      <MoreButton of={{ hasNextPage, isFetchingNextPage, fetchNextPage }} />
    </section>
  )
}

function DependentLine({ dependent }: { readonly dependent: Dependent }) {
  const { environment, workflow, workflow_revision: revision, locations = [], keys = [] } = dependent
  if (environment) {
    return (
      <>
        <EnvironmentDot slug={environment.slug} />
        <span className="muted-small" title={keys.slice(0, 20).join('\n')}>
          runs it
        </span>
      </>
    )
  }
  if (!workflow || !revision) return null
  const where = locations.map((path) => path.join('.'))
  return (
    <>
      <Link to={places.revision(workflow.slug, revision.slug)}>
        {workflow.slug} {revision.version !== undefined && `v${revision.version}`}
      </Link>
      <span className="muted-small" title={where.slice(0, 20).join('\n')}>
        embeds it {where.length > 1 ? `in ${where.length} places` : `in ${where[0] ?? ''}`}
      </span>
    </>
  )
}
