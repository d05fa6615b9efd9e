import { Link } from '@tanstack/react-router'
import { usePages } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { places } from '../../shell/places.ts'
import type { Testset, TestsetRevision } from './records.ts'

export interface VersionsProps {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}

/** The versions of the variant, newest first, each with what it changed. */
export function TestsetVersions({ testset, revision }: VersionsProps) {
  const { slug } = testset
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    'POST /testsets/revisions/log',
    {
      body: {
        testset: { testset_variant_id: revision?.testset_variant_id ?? '' },
        windowing: { limit: 50 },
      },
    },
    { enabled: revision !== undefined },
  )
  if (!revision) return <Empty>Versions are what uploads, commits and pushes make. There is none yet.</Empty>
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Loading the versions" />
  const revisions = data.pages.flatMap((page) => page.testset_revisions)
  const rows = revisions.map((it, at) => ({ it, older: revisions[at + 1] }))
  return (
    <>
      <Table
        caption={`Versions of ${revision.testset_variant_slug}`}
        rows={rows}
        keyOf={({ it }) => it.id}
        columns={[
          {
            name: 'Version',
            cell: ({ it }) => (
              <Link to={places.testsetVersion(slug, it.testset_variant_slug, Number(it.version))}>
                <b>v{it.version}</b>
                {it.id === revision.id && ' · shown'}
              </Link>
            ),
          },
          { name: 'What', cell: ({ it }) => it.message ?? it.subject },
          { name: 'By', cell: ({ it }) => <span title={it.author}>{authorName(it.author)}</span> },
          { name: 'When', cell: ({ it }) => <Ago date={it.date} /> },
          {
            name: 'Changes',
            cell: ({ it, older }) =>
              older && (
                <Link to={places.compareTestset(slug, `r:${older.slug}`, `r:${it.slug}`)}>
                  Compare with v{older.version}
                </Link>
              ),
          },
        ]}
      />
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older versions
        </Button>
      )}
    </>
  )
}
