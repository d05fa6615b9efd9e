import { Problem } from '../../api/problem.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { NotThere } from '../../parts/states/not-there.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { places } from '../../shell/places.ts'
import { RevisionView } from './revision-view.tsx'
import { useRevisionHere } from './use-revision.ts'

/** A revision of a prompt, an evaluator or a workflow: what it says, who wrote each line, its files, and where it comes from. */
export default function RevisionPage() {
  const { slug, variant, version, data, error, refetch } = useRevisionHere()
  if (data) {
    return (
      <RevisionView
        key={data.workflow_revision.id}
        revision={data.workflow_revision}
        isHead={version === undefined}
      />
    )
  }
  const isMissing = error instanceof Problem && error.status === 404
  return (
    <Page crumbs={[{ label: slug, to: places.artifact(slug) }, { label: variant ?? 'Revision' }]}>
      {isMissing ? (
        <NotThere
          problem={error}
          placeOf={(near) =>
            error.code === 'artifact_not_found' ? places.artifact(near) : places.version(slug, near)
          }
        />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label="Loading the revision" lines={16} />
      )}
    </Page>
  )
}
