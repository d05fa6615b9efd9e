import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { Table } from '../../parts/table/table.tsx'
import { useRowKeys } from '../../parts/table/use-row-keys.ts'
import { places } from '../../shell/places.ts'
import { TRACE_COLUMNS, type TraceRow } from './trace-columns.tsx'
import { headOf } from './trace-head.ts'
import { questionOf, type TraceFilters } from './trace-question.ts'
import styles from './traces.module.css'

const PAGE = 30
/** How often it is asked whether there is a newer one, in milliseconds. */
const PULSE = 3000

const COMMAND = `curl "$BRANCHPOINT_URL/services/invoke" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"references": {"application": {"slug": "support-bot"}}, "data": {"inputs": {}}}'`

/** Traces, the newest first. A newer one is told of by a line; nothing moves until that is pressed. */
export function TraceList({ filters }: { readonly filters: TraceFilters }) {
  // A period ends now; it does not move while it is looked at.
  const [now] = useState(() => Date.now())
  const { data, error, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } = usePages(
    'POST /traces/query',
    { body: questionOf(filters, PAGE, now) },
  )
  const newest = useRoute(
    'POST /traces/query',
    { body: questionOf(filters, 1, now) },
    { refetchInterval: PULSE, enabled: data !== undefined && filters.before === undefined },
  )
  const rows = data?.pages.flatMap(({ traces }) => traces).flatMap(rowOf) ?? []
  const newestId = newest.data?.traces[0]?.trace_id
  const isNewer = newestId !== undefined && !rows.slice(0, PAGE).some((row) => row.id === newestId)

  const navigate = useNavigate()
  const at = useRowKeys('trace', rows, (row) => void navigate({ to: places.trace(row.id) }))

  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Loading the traces" lines={12} />
  const isNarrowed = Object.values(filters).some((value) => value !== undefined)
  return (
    <>
      <div role="status">
        {isNewer && (
          <p className={styles.news}>
            Newer traces are here:{' '}
            <button type="button" onClick={() => void refetch()}>
              show
            </button>
          </p>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty
          {...(isNarrowed
            ? {
                action: (
                  <Button onClick={() => void navigate({ to: places.traces(), search: {} as never })}>
                    Show all traces
                  </Button>
                ),
              }
            : {})}
          command={COMMAND}
        >
          {isNarrowed
            ? 'No trace has a span that is all of this.'
            : 'Each run of a prompt or an evaluator leaves a trace: its spans, with inputs, outputs, times and tokens.'}
        </Empty>
      ) : (
        <Table
          caption="Traces"
          columns={TRACE_COLUMNS}
          rows={rows}
          keyOf={(row) => row.id}
          isAt={(row) => row.id === rows[at]?.id}
        />
      )}
      {hasNextPage && (
        <div className={styles.below}>
          <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Older traces
          </Button>
        </div>
      )}
    </>
  )
}

function rowOf(trace: Answer<'POST /traces/query'>['traces'][number]): readonly TraceRow[] {
  const head = headOf(trace)
  return head ? [{ id: trace.trace_id, ...head }] : []
}
