import { Link, useNavigate } from '@tanstack/react-router'
import { Page } from '../../parts/page/page.tsx'
import { type FormEvent, useEffect, useState } from 'react'
import { ArtifactPicker } from '../../parts/artifact-picker/artifact-picker.tsx'
import { Button, LinkButton } from '../../parts/button/button.tsx'
import { type Feedback, feedbackIn, FeedbackMark } from '../../parts/feedback/feedback.tsx'
import { messagesIn, saidIn } from '../../parts/conversation/read-messages.ts'
import { useCommands } from '../../shell/commands.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { conditionsOf, type TraceQuery } from '../../parts/waterfall/trace-search.ts'
import { SaveSearch } from './save-search.tsx'
import { ChoiceField, TextField } from '../../parts/fields/fields.tsx'
import { places, useAddress } from '../../shell/places.ts'
import styles from './traces.module.css'
import { membersOf } from '../../api/json.ts'
import type { Answer, Ask } from '../../api/call.ts'
import { usePages, useRoute } from '../../api/use-route.ts'
import { Empty, Failure, Skeleton } from '../../parts/states/states.tsx'
import { Table, type Column, useRowKeys } from '../../parts/table/table.tsx'
import { Ago, duration } from '../../parts/time/time.tsx'
import { clipped, excerptOf } from '../../parts/text/text.tsx'
import { dataOf, hasFailed, headIn, nameOfRun, valuesOf } from '../../parts/waterfall/spans.ts'
import { News } from '../../shell/live.tsx'

/** `/trace`: the traces, newest first, filtered by the address. */
export default function TracesPage() {
  const search = useAddress()
  const filters = readFilters(search)
  const navigate = useNavigate()
  const { save, query } = search
  const setSaving = (isOpen: boolean): void =>
    void navigate({
      to: places.traces(),
      search: { ...filters, query, save: isOpen ? '1' : undefined } as never,
      replace: true,
    })
  const refusal = useRefusal('write')
  useCommands([
    { id: 'save', title: 'Save this search as a query', keys: 's', refusal, run: () => setSaving(true) },
  ])
  return (
    <Page
      crumbs={[{ label: 'Traces' }]}
      wide
      actions={
        <>
          <LinkButton to={places.home('queries')}>Saved searches</LinkButton>
          <Button needs="write" onClick={() => setSaving(true)}>
            {query === undefined ? 'Save this search …' : `Save to ${query} …`}
          </Button>
        </>
      }
    >
      <TraceFilters filters={filters} query={query} />
      <TraceList key={JSON.stringify(filters)} filters={filters} />
      {save !== undefined && <SaveSearch filters={filters} query={query} close={() => setSaving(false)} />}
    </Page>
  )
}

interface TraceFiltersProps {
  readonly filters: TraceQuery
  /** The slug of the query that is changed, if one is. */
  readonly query: string | undefined
}

/** The filters. Choices apply at once, texts with Enter or the button; all are in the address. */
function TraceFilters({ filters, query }: TraceFiltersProps) {
  const navigate = useNavigate()
  const [text, setText] = useState(filters.text ?? '')
  const [slower, setSlower] = useState(filters.slower ?? '')
  // Back and Forward change the address, and the typed texts with it.
  useEffect(() => setText(filters.text ?? ''), [filters.text])
  useEffect(() => setSlower(filters.slower ?? ''), [filters.slower])
  const set = (changed: Partial<TraceQuery>): void =>
    void navigate({ to: places.traces(), search: { ...filters, query, ...changed } as never })
  const isNumber = slower === '' || Number(slower) > 0
  function submit(event: FormEvent): void {
    event.preventDefault()
    if (isNumber) set({ text: text === '' ? undefined : text, slower: slower === '' ? undefined : slower })
  }
  const isNarrowed = Object.values(filters).some((value) => value !== undefined)
  return (
    <form className={styles.filters} onSubmit={submit} role="search" aria-label="Traces">
      <TextField
        label="Search text"
        value={text}
        onChange={setText}
        placeholder="in inputs, outputs, errors"
      />
      <ArtifactPicker
        label="Prompt"
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
        label="Minimum duration"
        inputMode="decimal"
        value={slower}
        onChange={setSlower}
        placeholder="ms"
        problem={isNumber ? undefined : 'Milliseconds, such as 1500.'}
      />
      <ChoiceField
        label="Feedback"
        value={filters.approved ?? ''}
        choices={[
          { value: '', label: 'any' },
          { value: 'true', label: 'approved' },
          { value: 'false', label: 'rejected' },
        ]}
        onChange={(approved) =>
          set({ approved: approved === 'true' || approved === 'false' ? approved : undefined })
        }
      />
      <div className={styles.buttons}>
        <label className={styles.drafts}>
          <input
            type="checkbox"
            checked={filters.drafts === '1'}
            onChange={(event) => set({ drafts: event.target.checked ? '1' : undefined })}
          />
          Show drafts
        </label>
        <Button type="submit">Filter</Button>
        {isNarrowed && <Link to={places.traces()}>Show all</Link>}
      </div>
      {filters.revision !== undefined && (
        <p className={styles.before}>
          Only of the version <b dir="auto">{filters.revision}</b>.{' '}
          <Link to={places.traces()} search={{ ...filters, revision: undefined } as never}>
            All versions
          </Link>
        </p>
      )}
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
      <News show={() => void refetch()}>{isNewer && 'New traces'}</News>
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
        <div className="gap-above">
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

/** The columns of the list, from the first span of a trace, and what people said about it. */
const TRACE_COLUMNS: readonly Column<TraceRow>[] = [
  {
    name: 'Trace',
    cell: ({ id, name, errors, note }) => (
      <Link to={places.trace(id)} className={styles.name}>
        <span className={errors > 0 ? 'bad' : 'good'}>
          <span aria-hidden>{errors > 0 ? '!' : '✓'}</span>
          <span className="visually-hidden">{errors > 0 ? 'with errors:' : 'succeeded:'}</span>
        </span>{' '}
        <bdi>{name}</bdi>
        {note !== undefined && <span className={styles.note}> {note}</span>}
      </Link>
    ),
  },
  { name: 'Input', cell: ({ input }) => <span className={`two-lines ${styles.excerpt}`}>{input}</span> },
  {
    name: 'Output',
    cell: ({ output, message }) =>
      message === undefined ? (
        <span className={`two-lines ${styles.excerpt}`}>{output}</span>
      ) : (
        <span className={`two-lines bad ${styles.excerpt}`}>{message}</span>
      ),
  },
  {
    name: 'Feedback',
    cell: ({ feedback }) =>
      feedback && (
        <>
          <FeedbackMark of={feedback} />
          {feedback.comment !== undefined && (
            <span className={`two-lines ${styles.excerpt}`}>{clipped(feedback.comment)}</span>
          )}
        </>
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
  /** What kind of run it was, if not one of a version. */
  readonly note: string | undefined
  readonly tokens: number | undefined
  readonly input: string
  readonly output: string
  /** The newest. */
  readonly feedback: Feedback | undefined
}

/** Reads the first span of a trace. */
function headOf(trace: Trace): TraceHead | undefined {
  const head = headIn(trace.spans)
  if (!head) return undefined
  const { tokens, errors, took, evaluationId } = dataOf(head)
  const { inputs, output } = valuesOf(head)
  const { messages, ...variables } = inputs
  return {
    name: clipped(nameOfRun(head)),
    began: head.start_time,
    took,
    errors,
    message: hasFailed(head) ? clipped(head.status_message ?? 'failed') : undefined,
    note: evaluationId === undefined ? undefined : 'row of an evaluation',
    tokens: tokens?.total,
    input: [lastOf(messages), Object.keys(variables).length > 0 ? excerptOf(variables) : '']
      .filter(Boolean)
      .join(' · '),
    output: evaluationId === undefined ? excerptOf(output) : verdictsOf(output),
    feedback: feedbackIn(trace.annotations)[0],
  }
}

/** Of a row of an evaluation, what the evaluators said. */
function verdictsOf(output: unknown): string {
  const verdicts = Object.entries(membersOf(output)).map(([name, result]) => {
    const { outputs, error } = membersOf(result)
    const { success } = membersOf(outputs)
    if (error !== undefined) return `${name}: error`
    return typeof success === 'boolean'
      ? `${name}: ${success ? 'passed' : 'failed'}`
      : excerptOf({ [name]: outputs })
  })
  return clipped(verdicts.join(' · '))
}

/** Of a conversation, what was said last. */
function lastOf(messages: unknown): string {
  const last = messagesIn(messages)?.messages.at(-1)
  return last ? clipped(saidIn(last)) : ''
}

/** The periods to choose from, in milliseconds. */
const PERIODS: Readonly<Record<string, { readonly label: string; readonly ms: number }>> = {
  '1h': { label: 'last hour', ms: 3_600_000 },
  '24h': { label: 'last 24 hours', ms: 86_400_000 },
  '7d': { label: 'last 7 days', ms: 604_800_000 },
}

function readFilters(search: Readonly<Record<string, string | undefined>>): TraceQuery {
  const { since, before, status, artifact, text, slower, revision, approved, drafts } = search
  return {
    since: since !== undefined && Object.hasOwn(PERIODS, since) ? since : undefined,
    before,
    status: status === 'error' || status === 'ok' ? status : undefined,
    artifact,
    text,
    slower,
    revision,
    approved: approved === 'true' || approved === 'false' ? approved : undefined,
    drafts: drafts === '1' ? '1' : undefined,
  }
}

type Question = NonNullable<Ask<'POST /traces/query'>['body']>

/** The query for the filters: a trace matches if one of its spans fulfils all of them. `now` is in milliseconds. */
function questionOf(filters: TraceQuery, limit: number, now: number): Question {
  const { since, before, approved, drafts } = filters
  const conditions = conditionsOf(filters)
  const period = since === undefined ? undefined : PERIODS[since]
  return {
    ...(conditions.length > 0 ? { filtering: { conditions } } : {}),
    ...(approved === undefined ? {} : { annotated: { approved: approved === 'true' } }),
    ...(drafts === undefined ? { draft: false } : {}),
    windowing: {
      limit,
      ...(before === undefined ? {} : { newest: before }),
      ...(period ? { oldest: new Date(now - period.ms).toISOString() } : {}),
    },
    heads_only: true,
    include_annotations: true,
  }
}
