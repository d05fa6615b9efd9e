import { useRoute } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'

/** The start: what there is, what is newest, what runs where. */
export default function HomePage() {
  const { data, error, refetch } = useRoute('GET /projects/current', {})
  return (
    <Page crumbs={[{ label: data?.project.name ?? 'Home' }]}>
      {error && <Failure error={error} retry={refetch} />}
      {data ? <pre>{JSON.stringify(data.project.counts)}</pre> : <Skeleton label="Loading the project" />}
    </Page>
  )
}
