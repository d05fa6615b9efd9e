import { useParams } from '@tanstack/react-router'
import { Problem } from '../../api/problem.ts'
import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { NotThere } from '../../parts/states/not-there.tsx'
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
    {
      immutable: true,
      keepPrevious: true,
      // Of a testset without rows there is nothing to ask for, which is known once the testset is.
      enabled: variant !== undefined || (testset.data !== undefined && !isWithoutRows),
    },
  )
  if (testset.data)
    return (
      <TestsetView
        key={testset.data.testset.id}
        testset={testset.data.testset}
        revision={head.data?.testset_revision}
        total={head.data?.total ?? 0}
        isPinned={version !== undefined}
        isEmpty={isWithoutRows}
        failure={head.error && <Failure error={head.error} retry={head.refetch} />}
      />
    )
  return (
    <Page crumbs={[{ label: 'Testsets', to: places.home('testsets') }, { label: slug }]}>
      {testset.error instanceof Problem && testset.error.status === 404 ? (
        <NotThere problem={testset.error} placeOf={places.testset} />
      ) : testset.error ? (
        <Failure error={testset.error} retry={testset.refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}
