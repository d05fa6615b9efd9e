import { useNavigate, useParams, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Problem, type Answer } from '../../api/call.ts'
import { useRoute, usePages } from '../../api/use-route.ts'
import { ArchiveDialog, ArchivedNote, archivableArtifact } from '../../parts/archive/archive.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { NamingFacts, useNaming } from '../../parts/naming/naming.tsx'
import { Page } from '../../parts/page/page.tsx'
import { RevisionChip } from '../../parts/chips/chips.tsx'
import { Empty, Failure, NotThere, Skeleton } from '../../parts/states/states.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { FilterView, focusOf } from './filter-view.tsx'
import { Button, LinkButton, MoreButton } from '../../parts/button/button.tsx'
import { Modal } from '../../parts/dialog/dialog.tsx'
import { DataDiff } from '../../parts/diff/data-diff.tsx'
import { VersionTable } from '../../parts/versions/version-table.tsx'
import type { JsonObject } from '#routes'
import { Table } from '../../parts/table/table.tsx'
import { Ago, duration } from '../../parts/time/time.tsx'
import { excerptOf } from '../../parts/text/text.tsx'
import { dataOf, nameOfRun, type TraceSpan, valuesOf } from '../../parts/waterfall/spans.ts'
import { filtersOf } from '../../parts/waterfall/trace-search.ts'
import styles from './query.module.css'

/** A saved query: its filter, the traces that match now, and its versions. `?version=` shows an older version, `?view=versions` lists them. */
export default function SavedQueryPage() {
  const { slug = '' } = useParams({ strict: false })
  const { version, view = 'found' } = useAddress()
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
  const own = saved && archivableArtifact('queries', 'query', saved)
  const isArchived = saved?.deleted_at !== undefined
  const [isArchiving, setArchiving] = useState(false)
  const mayNotWrite = useRefusal('write')
  const naming = useNaming(
    saved && { ...saved, family: 'queries' },
    isArchived ? 'The query is archived: bring it back first.' : mayNotWrite,
  )
  const filters = revision || hasNone ? filtersOf(revision?.data?.['filtering']) : {}
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
          <>
            <Menu
              label="More"
              title="Actions for the query"
              items={[
                ...naming.items,
                {
                  label: 'Archive the query …',
                  refusal: isArchived ? 'The query is archived.' : mayNotWrite,
                  run: () => setArchiving(true),
                },
              ]}
            />
            <LinkButton
              kind="primary"
              to={places.traces()}
              search={{ ...filters, query: slug }}
              refusal={
                mayNotWrite ??
                (isArchived
                  ? 'The query is archived.'
                  : filters
                    ? undefined
                    : 'It has conditions that the search has no field for: change it by the API.')
              }
            >
              Change the search
            </LinkButton>
          </>
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
      {naming.dialogs}
      {query.error instanceof Problem && query.error.status === 404 ? (
        <NotThere problem={query.error} placeOf={places.query} />
      ) : (
        error && <Failure error={error} retry={() => Promise.all([query.refetch(), head.refetch()])} />
      )}
      {!error && !revision && !hasNone && <Skeleton label={`Loading ${slug}`} lines={12} />}
      {hasNone && version === undefined && (
        <Empty>A saved query is a filter of traces with a history. This one has no version yet.</Empty>
      )}
      {revision && (
        <>
          {saved && <NamingFacts of={saved} />}
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
              { label: 'Matching traces', to: here, search: pinned, isHere: view === 'found' },
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

type Revision = Answer<'POST /queries/revisions/log'>['query_revisions'][number]

interface QueryVersionsProps {
  readonly slug: string
  /** The shown revision. */
  readonly revision: Revision
}

/** The versions of a query, newest first. */
function QueryVersions({ slug, revision }: QueryVersionsProps) {
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

/** The changes between two versions. */
function Changes({ base, head, close }: ChangesProps) {
  const [before, after] = [useRevision(base.id), useRevision(head.id)]
  const error = before.error ?? after.error
  return (
    <Modal open close={close} sheet title={`Changes from v${base.version} to v${head.version}`}>
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

interface FoundProps {
  readonly revisionId: string
  readonly data: JsonObject | undefined
}

type Span = TraceSpan

/** A query may have its own limit. */
const DEFAULT_LIMIT = 25

/** The traces or spans that match now. */
function Found({ revisionId, data }: FoundProps) {
  const isSpans = focusOf(data) === 'span'
  const windowing = data?.['windowing']
  const hasLimit = typeof windowing === 'object' && windowing !== null && 'limit' in windowing
  const ask = {
    body: {
      query_revision_ref: { id: revisionId },
      ...(hasLimit ? {} : { windowing: { limit: DEFAULT_LIMIT } }),
    },
  }
  const query = usePages(isSpans ? 'POST /spans/query' : 'POST /traces/query', ask)
  if (query.error) return <Failure error={query.error} retry={query.refetch} />
  if (!query.data) return <Skeleton label="Asking for traces" />
  const found = query.data.pages.flatMap(headsIn)
  if (found.length === 0)
    return (
      <Empty action={<Link to={places.traces()}>Look at all traces</Link>}>
        No traces match. Every run leaves a trace.
      </Empty>
    )
  return (
    <>
      <Table
        caption={isSpans ? 'Matching spans' : 'Matching traces'}
        rows={found}
        keyOf={({ trace_id: trace, span_id: span }) => `${trace} ${span}`}
        columns={[
          {
            name: isSpans ? 'Span' : 'Trace',
            cell: (span) => (
              <Link to={places.trace(span.trace_id)}>
                <b dir="auto">{(isSpans ? span.span_name : nameOfRun(span)).slice(0, 200)}</b>{' '}
                <code className="muted">{span.trace_id.slice(0, 8)}</code>
              </Link>
            ),
          },
          { name: 'Status', cell: (span) => <Ended span={span} /> },
          ...(isSpans
            ? []
            : [
                {
                  name: 'Output',
                  cell: (span: Span) => (
                    <span className={`two-lines ${styles.excerpt}`}>{excerptOf(valuesOf(span).output)}</span>
                  ),
                },
              ]),
          { name: 'Took', number: true, cell: (span) => duration(dataOf(span).took) },
          { name: 'When', cell: ({ start_time: time }) => <Ago date={time} /> },
        ]}
      />
      <MoreButton of={query} />
    </>
  )
}

/** The first span of a trace. */
function headsIn(answer: Answer<'POST /traces/query'> | Answer<'POST /spans/query'>): readonly Span[] {
  if ('spans' in answer) return answer.spans
  return answer.traces.flatMap(({ spans }) => {
    const all = Object.values(spans).flat()
    const ids = new Set(all.map(({ span_id: id }) => id))
    return all.find(({ parent_id: parent }) => parent === undefined || !ids.has(parent)) ?? []
  })
}

function Ended({ span: { status_code: code, status_message: message } }: { readonly span: Span }) {
  const isBad = /ERROR/i.test(code)
  return (
    <span className={isBad ? 'bad' : undefined} title={message}>
      {isBad ? '! failed' : /OK/i.test(code) ? '✓ succeeded' : '–'}
    </span>
  )
}
