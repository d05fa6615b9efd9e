import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/modal.tsx'
import { DataDiff } from '../../parts/diff/data-diff.tsx'
import { authorName } from '../../parts/revision-chip/author-name.ts'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
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
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = usePages(
    'POST /queries/revisions/log',
    { body: { query: { query_variant_id: revision.query_variant_id }, windowing: { limit: 50 } } },
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Loading the versions" />
  const revisions = data.pages.flatMap((page) => page.query_revisions)
  return (
    <>
      <Table
        caption="Versions of the query"
        rows={revisions.map((it, at) => ({ it, older: revisions[at + 1] }))}
        keyOf={({ it }) => it.id}
        columns={[
          {
            name: 'Version',
            cell: ({ it }) => (
              <Link to={places.query(slug)} search={{ version: String(it.version) }}>
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
                <Button kind="quiet" onClick={() => setCompared({ base: older, head: it })}>
                  Compare with v{older.version}
                </Button>
              ),
          },
        ]}
      />
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older versions
        </Button>
      )}
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
