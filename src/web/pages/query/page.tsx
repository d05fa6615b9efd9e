import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem } from '../../api/problem.ts'
import { useRoute } from '../../api/use-route.ts'
import type { Archivable } from '../../parts/archive/archivable.ts'
import { ArchiveDialog } from '../../parts/archive/archive-dialog.tsx'
import { ArchivedNote } from '../../parts/archive/archived.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { NotThere } from '../../parts/states/not-there.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { FilterView } from './filter-view.tsx'
import { Found } from './found.tsx'
import { QueryVersions } from './versions.tsx'

/** A saved query: what it asks of traces, what it finds now, its versions. `?version=` shows an older one, `?view=versions` lists them. */
export default function SavedQueryPage() {
  const { slug = '' } = useParams({ strict: false })
  const { version, view = 'found' } = useSearch({ strict: false }) as Readonly<
    Record<string, string | undefined>
  >
  const navigate = useNavigate()
  const query = useRoute('GET /queries/{id}', { path: { id: slug } })
  const head = useRoute(
    'POST /queries/revisions/retrieve',
    { body: version === undefined ? { query_ref: { slug } } : { query_revision_ref: { slug, version } } },
    { keepPrevious: true },
  )
  const revision = head.data?.query_revision
  const hasNone = query.data !== undefined && head.error instanceof Problem && head.error.status === 404
  const error = query.error ?? (hasNone && version === undefined ? null : head.error)
  const here = places.query(slug)
  const saved = query.data?.query
  const own: Archivable | undefined = saved && {
    ...{ level: 'artifact', family: 'queries', id: saved.id, artifact: slug, word: 'query' },
  }
  const isArchived = saved?.deleted_at !== undefined
  const [isArchiving, setArchiving] = useState(false)
  const mayNotWrite = useRefusal('write')
  const pinned = version === undefined ? {} : { version }
  const showVersions = (): void => void navigate({ to: here, search: { ...pinned, view: 'versions' } })
  useCommands([
    { id: 'versions', title: 'Show versions', keys: 'v', group: 'Saved query', run: showVersions },
  ])
  return (
    <Page
      wide
      crumbs={[
        { label: 'Queries', to: places.home('queries'), siblings: { of: 'families' } },
        {
          label: query.data?.query.name ?? slug,
          to: here,
          siblings: { of: 'artifacts', family: 'queries' },
        },
      ]}
      actions={
        own && (
          <Menu
            label="More"
            title="What can be done with the query"
            items={[
              {
                label: 'Archive the query …',
                refusal: isArchived ? 'The query is archived.' : mayNotWrite,
                run: () => setArchiving(true),
              },
            ]}
          />
        )
      }
      about={
        revision && (
          <RevisionChip
            to={here}
            version={Number(revision.version)}
            author={revision.author}
            date={revision.date}
            subject={revision.message ?? revision.subject}
          />
        )
      }
    >
      {own && isArchived && <ArchivedNote it={own} />}
      {own && isArchiving && <ArchiveDialog it={own} close={() => setArchiving(false)} />}
      {query.error instanceof Problem && query.error.status === 404 ? (
        <NotThere problem={query.error} placeOf={places.query} />
      ) : (
        error && <Failure error={error} retry={() => Promise.all([query.refetch(), head.refetch()])} />
      )}
      {!error && !revision && !hasNone && <Skeleton label={`Loading ${slug}`} lines={12} />}
      {hasNone && version === undefined && (
        <Empty command={commandFor(query.data?.query.id ?? slug)}>
          A saved query is a filter of traces with a history. This one has no version yet.
        </Empty>
      )}
      {revision && (
        <>
          {query.data?.query.description !== undefined && <p dir="auto">{query.data.query.description}</p>}
          <NewsLine
            key={revision.id}
            concerns={({ kind, references }) =>
              kind === 'revision' &&
              Object.values(references).some((it) => it?.id === revision.query_variant_id)
            }
          />
          <FilterView data={revision.data} />
          <LinkTabs
            label="Views of the query"
            tabs={[
              { label: 'What it finds now', to: here, search: pinned, isHere: view === 'found' },
              {
                label: 'Versions',
                to: here,
                search: { ...pinned, view: 'versions' },
                isHere: view === 'versions',
              },
            ]}
          />
          {view === 'versions' ? (
            <QueryVersions slug={slug} revision={revision} />
          ) : (
            <Found key={revision.id} revisionId={revision.id} data={revision.data} />
          )}
        </>
      )}
    </Page>
  )
}

function commandFor(id: string): string {
  const data = { filtering: { conditions: [{ field: 'status_code', value: 'STATUS_CODE_ERROR' }] } }
  return `curl -X PUT ${location.origin}/simple/queries/${id} -H "Authorization: ApiKey $BRANCHPOINT_KEY" -H 'Content-Type: application/json' -d '${JSON.stringify({ query: { id, data } })}'`
}
