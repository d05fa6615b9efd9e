import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { ArchivedBadge } from '../../parts/archive/archived.tsx'
import { Button } from '../../parts/button/button.tsx'
import type { End } from '../../parts/compare/ends.ts'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'
import styles from './environment.module.css'

export interface RunsNowProps {
  readonly slug: string
  /** Why nothing can be deployed to it now. */
  readonly refusal: string | undefined
  readonly deploy: (artifact: string, what: End | undefined, key: string | undefined) => void
}

type Deployment = Answer<'POST /deployments/query'>['deployments'][number]

const PAGE = 100

/** What the environment runs, and how a client asks for it. */
export function RunsNow({ slug, refusal, deploy }: RunsNowProps) {
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /deployments/query',
    { body: { deployment: { environment_ref: { slug } }, windowing: { limit: PAGE } } },
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (isPending) return <Skeleton label="Loading what runs" lines={8} />
  const rows = data.pages.flatMap((page) => page.deployments)
  const first = rows[0]?.artifact?.slug ?? 'my-prompt'
  return (
    <>
      {rows.length === 0 && <p>Nothing runs in {slug}.</p>}
      {rows.length > 0 && (
        <Table
          caption={`What runs in ${slug}`}
          rows={rows}
          keyOf={({ key }) => key}
          columns={[
            { name: 'Prompt', cell: (it) => <Name deployment={it} /> },
            { name: 'Version', number: true, cell: (it) => <Version deployment={it} /> },
            { name: 'Behind', number: true, cell: (it) => <Behind deployment={it} /> },
            { name: 'Since', cell: ({ since }) => <Ago date={since.date} /> },
            { name: 'By', cell: ({ since }) => authorName(since.author) },
            { name: 'Message', cell: ({ since }) => since.message ?? '' },
            {
              name: 'Deploy',
              cell: ({ artifact, key }) =>
                artifact?.kind === 'workflow' && (
                  <Button
                    refusal={refusal}
                    aria-label={`Deploy another version of ${artifact.slug}`}
                    onClick={() =>
                      deploy(artifact.slug, undefined, key === `${artifact.slug}.revision` ? undefined : key)
                    }
                  >
                    Another version…
                  </Button>
                ),
            },
          ]}
        />
      )}
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
      <h2 className={styles.ask}>How a client asks for it</h2>
      <Copyable
        label={`Command that retrieves what runs in ${slug}`}
        text={`curl "$BRANCHPOINT_URL/workflows/revisions/retrieve" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '{"environment_ref": {"slug": "${slug}"}, "workflow_ref": {"slug": "${first}"}}'`}
      />
    </>
  )
}

function Name({ deployment: { artifact, key, problem } }: { readonly deployment: Deployment }) {
  if (!artifact) return <span title={problem}>{key} leads nowhere</span>
  return (
    <>
      {artifact.kind === 'workflow' ? (
        <Link to={places.artifact(artifact.slug)}>{artifact.name ?? artifact.slug}</Link>
      ) : (
        artifact.slug
      )}
      {key !== `${artifact.slug}.revision` && <code> {key}</code>}
    </>
  )
}

function Version({
  deployment: { artifact, variant, revision, archived },
}: {
  readonly deployment: Deployment
}) {
  if (!artifact || !revision) return '–'
  const words = `v${revision.version}${!variant || variant.slug === artifact.slug ? '' : ` of ${variant.slug}`}`
  if (artifact.kind !== 'workflow') return words
  return (
    <>
      <Link to={places.revision(artifact.slug, revision.slug)} title={revision.subject}>
        {words}
      </Link>{' '}
      {archived && <ArchivedBadge />}
    </>
  )
}

function Behind({
  deployment: { artifact, variant, behind, environment, latest },
}: {
  readonly deployment: Deployment
}) {
  if (behind === undefined) return ''
  if (behind === 0 || !artifact || !variant) return '0'
  return (
    <Link
      to={places.compare(artifact.slug, `e:${environment.slug}`, `v:${variant.slug}`)}
      title={`See what changed up to v${latest?.version}`}
    >
      −{behind}
    </Link>
  )
}
