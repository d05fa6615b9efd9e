import { useParams } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { places } from '../../shell/places.ts'
import { TestsetView } from './testset-view.tsx'

/** A testset: its rows as a grid, its versions, and what is said about it. */
export default function TestsetPage() {
  const { slug = '', variant, version } = useParams({ strict: false })
  const testset = useRoute('GET /simple/testsets/{id}', {
    path: { id: slug },
    query: { include_testcases: false, include_testcase_ids: false },
  })
  const isWithoutRows =
    variant === undefined && testset.data !== undefined && testset.data.testset.revision_id === undefined
  const head = useRoute(
    'POST /testsets/revisions/retrieve',
    {
      body: {
        testset_ref: { slug },
        ...(variant === undefined
          ? {}
          : version === undefined
            ? { testset_variant_ref: { slug: variant } }
            : { testset_revision_ref: { slug: variant, version } }),
        include_testcases: false,
        include_testcase_ids: false,
        windowing: { count_total: true },
      },
    },
    // What is shown stays what it is while somebody scrolls, until they ask for what is new.
    { immutable: true, keepPrevious: true, enabled: variant !== undefined || !isWithoutRows },
  )
  if (testset.data && (head.data || isWithoutRows))
    return (
      <TestsetView
        key={testset.data.testset.id}
        testset={testset.data.testset}
        revision={head.data?.testset_revision}
        total={head.data?.total ?? 0}
        isPinned={version !== undefined}
      />
    )
  const error = testset.error ?? head.error
  return (
    <Page
      crumbs={[
        { label: 'Testsets', to: places.home('testsets') },
        { label: slug, to: places.testset(slug) },
      ]}
    >
      {error ? (
        <Failure error={error} retry={() => Promise.all([testset.refetch(), head.refetch()])} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}
