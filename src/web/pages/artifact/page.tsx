import { useParams } from '@tanstack/react-router'
import { useRoute } from '../../api/use-route.ts'
import { NotThere } from '../../parts/states/not-there.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Problem } from '../../api/problem.ts'
import { places } from '../../shell/places.ts'
import { ArtifactView } from './artifact-view.tsx'

/** A prompt, an evaluator or a workflow: its history as a graph, its variants, how to clone it, who uses it. */
export default function ArtifactPage() {
  const { slug = '' } = useParams({ strict: false })
  const { data, error, refetch } = useRoute('GET /workflows/{id}', { path: { id: slug } })
  if (data) return <ArtifactView key={data.workflow.id} artifact={data.workflow} />
  return (
    <Page crumbs={[{ label: slug }]}>
      {error instanceof Problem && error.status === 404 ? (
        <NotThere problem={error} placeOf={places.artifact} />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}
