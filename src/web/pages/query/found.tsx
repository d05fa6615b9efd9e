import { Link } from '@tanstack/react-router'
import type { JsonObject, Schemas } from '#routes'
import type { Answer } from '../../api/call.ts'
import { usePages } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { Ago } from '../../parts/time/ago.tsx'
import { duration } from '../../parts/time/duration.ts'
import { places } from '../../shell/places.ts'
import { focusOf } from './filter-view.tsx'
import styles from './query.module.css'

export interface FoundProps {
  readonly revisionId: string
  readonly data: JsonObject | undefined
}

type Span = Schemas['Spans']

/** So many are asked for at once, unless the query keeps a number of its own. */
const AT_ONCE = 25

/** What the query finds now. */
export function Found({ revisionId, data }: FoundProps) {
  const isSpans = focusOf(data) === 'span'
  const windowing = data?.['windowing']
  const hasLimit = typeof windowing === 'object' && windowing !== null && 'limit' in windowing
  const ask = {
    body: {
      query_revision_ref: { id: revisionId },
      ...(hasLimit ? {} : { windowing: { limit: AT_ONCE } }),
    },
  }
  const traces = usePages('POST /traces/query', ask, { enabled: !isSpans })
  const spans = usePages('POST /spans/query', ask, { enabled: isSpans })
  const { error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = isSpans ? spans : traces
  const pages = isSpans ? spans.data?.pages : traces.data?.pages
  if (error) return <Failure error={error} retry={refetch} />
  if (!pages) return <Skeleton label="Asking for traces" />
  const found = pages.flatMap(headsIn)
  if (found.length === 0)
    return (
      <Empty action={<Link to={places.traces()}>Look at all traces</Link>}>
        It finds nothing now. Whatever runs leaves a trace.
      </Empty>
    )
  return (
    <>
      <Table
        caption={isSpans ? 'Spans that it finds' : 'Traces that it finds'}
        rows={found}
        keyOf={({ trace_id: trace, span_id: span }) => `${trace} ${span}`}
        columns={[
          {
            name: isSpans ? 'Span' : 'Trace',
            cell: ({ trace_id: id, span_name: name }) => (
              <Link to={places.trace(id)}>
                <b>{name.slice(0, 200)}</b> <code className={styles.muted}>{id.slice(0, 8)}</code>
              </Link>
            ),
          },
          { name: 'Ended', cell: (span) => <Ended span={span} /> },
          {
            name: 'Of',
            cell: ({ references = [] }) => references.flatMap(({ slug }) => slug ?? [])[0] ?? '',
          },
          { name: 'Took', number: true, cell: (span) => duration(lengthOf(span)) },
          { name: 'When', cell: ({ start_time: time }) => <Ago date={time} /> },
        ]}
      />
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}

/** Of a trace the span that it begins with. */
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
    <span className={isBad ? styles.bad : undefined} title={message}>
      {isBad ? 'failed' : /OK/i.test(code) ? 'ok' : 'unset'}
    </span>
  )
}

function lengthOf({ start_time: start, end_time: end }: Span): number {
  return Math.max(0, Date.parse(end) - Date.parse(start))
}
