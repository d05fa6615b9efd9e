import { Link, useNavigate } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { type FormEvent, useEffect, useState } from 'react'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { Button } from '../../parts/button/button.tsx'
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx'
import { places, useAddress } from '../../shell/places.ts'
import styles from './traces.module.css'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Table, type Column, useRowKeys } from '../../parts/table/table.tsx'
import { Ago, duration } from '../../parts/time/time.tsx'
import { clipped, excerptOf } from '../../parts/text/text.tsx'
import { membersOf } from '../../api/json.ts'
import { dataOf, ranOf, hasFailed, type TraceSpan } from '../../parts/waterfall/spans.ts'
import type { Json } from '#routes'

/** `/trace`: the traces, newest first, filtered by the address. */
export default function TracesPage() {
  const search = useAddress()
  const filters = readFilters(search)
  return (
    <Page crumbs={[{ label: 'Traces' }]} wide>
      <TraceFilters filters={filters} />
      <TraceList key={JSON.stringify(filters)} filters={filters} />
    </Page>
  )
}

/** The filters. Choices apply at once, texts with Enter or the button; all are in the address. */
function TraceFilters({ filters }: { readonly filters: TraceQuery }) {
  const navigate = useNavigate()
  const [text, setText] = useState(filters.text ?? '')
  const [slower, setSlower] = useState(filters.slower ?? '')
  // Back and Forward change the address, and the typed texts with it.
  useEffect(() => setText(filters.text ?? ''), [filters.text])
  useEffect(() => setSlower(filters.slower ?? ''), [filters.slower])
  const set = (changed: Partial<TraceQuery>): void =>
    void navigate({ to: places.traces(), search: { ...filters, ...changed } as never })
  const isNumber = slower === '' || Number(slower) > 0
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isNumber) set({ text: text === '' ? undefined : text, slower: slower === '' ? undefined : slower })
  }
  const isNarrowed = Object.values(filters).some((value) => value !== undefined)
  return (
    <form className={styles.filters} onSubmit={submit} role="search" aria-label="Traces">
      <TextField
        label="Text in it"
        value={text}
        onChange={setText}
        placeholder="in inputs, outputs, errors"
      />
      <ArtifactPicker
        label="Of the prompt"
        family="application"
        placeholder="any"
        value={filters.artifact ?? ''}
        onChange={(slug) => set({ artifact: slug === '' ? undefined : slug })}
      />
      <ChoiceField
        label="Status"
        value={filters.status ?? ''}
        choices={[
          { value: '', label: 'any' },
          { value: 'error', label: 'errors' },
          { value: 'ok', label: 'succeeded' },
        ]}
        onChange={(status) => set({ status: status === 'error' || status === 'ok' ? status : undefined })}
      />
      <ChoiceField
        label="Time"
        value={filters.since ?? ''}
        choices={[
          { value: '', label: 'any' },
          ...Object.entries(PERIODS).map(([value, { label }]) => ({ value, label })),
        ]}
        onChange={(since) => set({ since: since === '' ? undefined : since, before: undefined })}
      />
      <TextField
        label="At least ms"
        inputMode="decimal"
        value={slower}
        onChange={setSlower}
        placeholder="0"
        problem={isNumber ? undefined : 'Milliseconds, such as 1500.'}
      />
      <div className={styles.buttons}>
        <Button type="submit">Filter</Button>
        {isNarrowed && <Link to={places.traces()}>Show all</Link>}
      </div>
      {filters.before !== undefined && (
        <p className={styles.before}>
          Before {new Date(filters.before).toLocaleString()}.{' '}
          <Link to={places.traces()} search={{ ...filters, before: undefined } as never}>
            Up to now
          </Link>
        </p>
      )}
    </form>
  )
}

const PAGE = 30
/** How often newer traces are looked for, in milliseconds. */
const PULSE = 3000

const COMMAND = `curl "$BRANCHPOINT_URL/services/invoke" -H "Authorization: ApiKey $BRANCHPOINT_KEY" -d '{"references": {"application": {"slug": "support-bot"}}, "data": {"inputs": {}}}'`

/** The traces, newest first. A line tells of newer ones; the list changes only on request. */
function TraceList({ filters }: { readonly filters: TraceQuery }) {
  // The period ends when the list was opened.
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
            New traces:{' '}
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
            ? 'No traces match.'
            : 'No traces yet. Each run of a prompt or an evaluator leaves one, with inputs, outputs, times and tokens.'}
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

/** A trace as a row of the list. */
interface TraceRow extends TraceHead {
  readonly id: string
}

/** The columns of the list, from the first span of a trace. */
const TRACE_COLUMNS: readonly Column<TraceRow>[] = [
  {
    name: 'Trace',
    cell: ({ id, name, errors }) => (
      <Link to={places.trace(id)} className={styles.name}>
        <span className={errors > 0 ? styles.failed : styles.ok}>
          <span aria-hidden>{errors > 0 ? '!' : '✓'}</span>
          <span className="visually-hidden">{errors > 0 ? 'with errors:' : 'succeeded:'}</span>
        </span>{' '}
        <bdi>{name}</bdi>
      </Link>
    ),
  },
  {
    name: 'Ran',
    cell: ({ ran }) =>
      ran ? (
        <span className={styles.ran}>
          <Link to={places.artifact(ran.slug)}>{ran.slug}</Link>{' '}
          {ran.revision?.slug !== undefined && (
            <Link to={places.revision(ran.slug, ran.revision.slug)}>v{ran.revision.version}</Link>
          )}
        </span>
      ) : (
        <span className="muted">–</span>
      ),
  },
  { name: 'Input', cell: ({ input }) => <span className={styles.excerpt}>{input}</span> },
  {
    name: 'Output',
    cell: ({ output, message }) =>
      message === undefined ? (
        <span className={styles.excerpt}>{output}</span>
      ) : (
        <span className={`${styles.excerpt} ${styles.failed}`}>{message}</span>
      ),
  },
  { name: 'Took', number: true, cell: ({ took }) => duration(took) },
  { name: 'Tokens', number: true, cell: ({ tokens }) => tokens?.toLocaleString() ?? '–' },
  { name: 'When', number: true, cell: ({ began }) => <Ago date={began} /> },
]

type Trace = Answer<'POST /traces/query'>['traces'][number]

/** The data of a row of the list. */
interface TraceHead {
  readonly name: string
  readonly began: string
  /** In milliseconds. */
  readonly took: number
  /** The number of failed spans. */
  readonly errors: number
  /** The error of the first span. */
  readonly message: string | undefined
  /** The artifact that was run. */
  readonly ran: ReturnType<typeof ranOf>
  readonly tokens: number | undefined
  readonly input: string
  readonly output: string
}

/** Reads the first span of a trace. */
function headOf({ spans }: Trace): TraceHead | undefined {
  const [head] = Object.values(spans).flat() as readonly (TraceSpan | undefined)[]
  if (!head) return undefined
  const { inputs, outputs, tokens, errors } = dataOf(head)
  return {
    name: clipped(head.span_name),
    began: head.start_time,
    took: Date.parse(head.end_time) - Date.parse(head.start_time),
    errors,
    message: hasFailed(head) ? clipped(head.status_message ?? 'failed') : undefined,
    ran: ranOf(head),
    tokens: tokens?.total,
    input: excerptOf(membersOf(inputs)['inputs'] ?? inputs),
    output: excerptOf(membersOf(outputs)['content'] ?? outputs),
  }
}

/** The filters in the address. */
interface TraceQuery {
  /** The period: `1h`, `24h`, `7d`. */
  readonly since: string | undefined
  /** Only traces that began before this time. */
  readonly before: string | undefined
  readonly status: 'error' | 'ok' | undefined
  /** Slug of what was run. */
  readonly artifact: string | undefined
  readonly text: string | undefined
  /** The least duration, in milliseconds. */
  readonly slower: string | undefined
}

/** The periods to choose from, in milliseconds. */
const PERIODS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 604_800_000 },
}

function readFilters(search: Readonly<Record<string, string | undefined>>): TraceQuery {
  const { since, before, status, artifact, text, slower } = search
  return {
    since: since !== undefined && Object.hasOwn(PERIODS, since) ? since : undefined,
    before,
    status: status === 'error' || status === 'ok' ? status : undefined,
    artifact,
    text,
    slower,
  }
}

type Question = NonNullable<Ask<'POST /traces/query'>['body']>

const STATUS = { error: 'STATUS_CODE_ERROR', ok: 'STATUS_CODE_OK' } as const

/** The query for the filters: a trace matches if one of its spans fulfils all of them. `now` is in milliseconds. */
function questionOf(filters: TraceQuery, limit: number, now: number): Question {
  const { since, before, status, artifact, text, slower } = filters
  const conditions: readonly Json[] = [
    ...(status ? [{ field: 'status_code', value: STATUS[status] }] : []),
    ...(artifact === undefined ? [] : [{ field: 'references', operator: 'has', value: { slug: artifact } }]),
    ...(text === undefined ? [] : [{ field: 'content', value: text }]),
    ...(slower === undefined || !(Number(slower) > 0)
      ? []
      : [
          {
            field: 'attributes',
            key: 'svc.metrics.duration.cumulative',
            operator: 'gte',
            value: Number(slower),
          },
        ]),
  ]
  const period = since === undefined ? undefined : PERIODS[since]
  return {
    ...(conditions.length > 0 ? { filtering: { conditions } } : {}),
    windowing: {
      limit,
      ...(before === undefined ? {} : { newest: before }),
      ...(period ? { oldest: new Date(now - period.ms).toISOString() } : {}),
    },
    heads_only: true,
  }
}
