import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { DataDiff } from '../../parts/diff/data-diff.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { VersionTable } from '../../parts/versions/version-table.tsx'
import { places } from '../../shell/places.ts'

type Revision = Answer<'POST /queries/revisions/log'>['query_revisions'][number]

export interface QueryVersionsProps {
  readonly slug: string
  /** The one that is shown. */
  readonly revision: Revision
}

/** The versions of a query, newest first. */
export function QueryVersions({ slug, revision }: QueryVersionsProps) {
  const [compared, setCompared] = useState<{ readonly base: Revision; readonly head: Revision }>()
  const [isOn, onChange] = useState(false)
  const query = usePages('POST /queries/revisions/log', {
    body: {
      query: { query_variant_id: revision.query_variant_id },
      ...(isOn ? { include_archived: true } : {}),
      windowing: { limit: 50 },
    },
  })
  return (
    <>
      <VersionTable
        caption="Versions of the query"
        versions={query.data?.pages.flatMap((page) => page.query_revisions)}
        shown={revision.id}
        linkOf={(it) => ({ to: places.query(slug), search: { version: String(it.version) } })}
        archived={{ isOn, onChange }}
        archivable={({ id, query_variant_slug: variant, version }) => ({
          ...{ level: 'revision', family: 'queries', word: 'query' },
          ...{ id, artifact: slug, variant, version: Number(version) },
        })}
        compare={(it, older, label) => (
          <Button kind="quiet" onClick={() => setCompared({ base: older, head: it })}>
            {label}
          </Button>
        )}
        query={query}
      />
      {compared && <Changes {...compared} close={() => setCompared(undefined)} />}
    </>
  )
}

interface ChangesProps {
  readonly base: Revision
  readonly head: Revision
  readonly close: () => void
}

/** What one version changed of another. */
function Changes({ base, head, close }: ChangesProps) {
  const [before, after] = [useRevision(base.id), useRevision(head.id)]
  const error = before.error ?? after.error
  return (
    <Modal open close={close} sheet title={`What v${head.version} changed of v${base.version}`}>
      {error && <Failure error={error} />}
      {before.data && after.data ? (
        <DataDiff base={before.data.query_revision.data} head={after.data.query_revision.data} />
      ) : (
        !error && <Skeleton label="Comparing" />
      )}
    </Modal>
  )
}

function useRevision(id: string) {
  return useRoute(
    'POST /queries/revisions/retrieve',
    { body: { query_revision_ref: { id } } },
    { immutable: true },
  )
}
