import { useNavigate, useParams, useSearch, Link } from '@tanstack/react-router'
import { useRouteText, useRoute } from '../../api/use-route.ts'
import { textAt } from '../../parts/json-text/json-text.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure, Skeleton } from '../../parts/states/states.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places } from '../../shell/places.ts'
import { type RunSearch, InputsSection } from './inputs-section.tsx'
import { Play, Square } from 'lucide-react'
import { type ReactNode, useMemo, useState, useEffect, useSyncExternalStore } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { useProblems, ChoiceField } from '../../parts/fields/fields.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { emptyInputs, inputFields } from './inputs.ts'
import { Output } from './output.tsx'
import { type PickedRow, RowSource } from './row-source.tsx'
import styles from './run.module.css'
import { useRun, type RunState } from './use-run.ts'
import { Ago, duration } from '../../parts/time/time.tsx'

/** `/a/<slug>/run`: runs a revision with inputs that are typed, or come from a row or a trace. */
export default function RunRevisionPage() {
  const { slug = '' } = useParams({ strict: false })
  const search = useSearch({ strict: false }) as RunSearch
  const navigate = useNavigate()
  const { variant, version } = search
  const answer = useRouteText('POST /workflows/revisions/retrieve', {
    body: {
      workflow_ref: { slug },
      ...(variant === undefined ? {} : { workflow_variant_ref: { slug: variant } }),
      ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
    },
  })
  const found = answer.data === undefined ? undefined : runnableIn(answer.data)
  if (found && !answer.error)
    return (
      <RunView
        key={slug}
        slug={slug}
        search={search}
        runnable={found}
        go={(change) =>
          void navigate({ to: places.run(slug), search: { ...search, ...change }, replace: true })
        }
        news={
          <NewsLine
            concerns={({ kind, references }) =>
              kind === 'revision' && references['workflow_variant']?.id === found.variantId
            }
          />
        }
      />
    )
  return (
    <Page crumbs={[{ label: slug, to: places.artifact(slug) }, { label: 'Run' }]}>
      {answer.error ? (
        <Failure error={answer.error} retry={answer.refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={8} />
      )}
    </Page>
  )
}

/** The parts of a retrieved revision that a run needs. */
function runnableIn(answer: string): Runnable {
  const { workflow_revision: revision } = JSON.parse(answer) as {
    readonly workflow_revision: {
      readonly id: string
      readonly version: number | string
      readonly variant_id: string
      readonly variant_slug: string
      readonly flags: { readonly is_evaluator?: boolean }
    }
  }
  return {
    revisionId: revision.id,
    version: Number(revision.version),
    variant: revision.variant_slug,
    variantId: revision.variant_id,
    isEvaluator: revision.flags.is_evaluator === true,
    data: textAt(answer, ['workflow_revision', 'data']) ?? '{}',
  }
}

/** A revision that can be run. */
interface Runnable {
  readonly revisionId: string
  readonly version: number
  readonly variant: string
  readonly variantId: string
  readonly isEvaluator: boolean
  /** Its `data` as JSON text. */
  readonly data: string
}

interface RunViewProps {
  readonly slug: string
  readonly search: RunSearch
  readonly runnable: Runnable
  readonly go: (change: { readonly [K in keyof RunSearch]?: string | undefined }) => void
  readonly news: ReactNode
}

/** Inputs on the left, output on the right. */
function RunView({ slug, search, runnable, go, news }: RunViewProps) {
  const { revisionId, version, variant, isEvaluator, data } = runnable
  const fields = useMemo(() => inputFields(data), [data])
  const [inputs, setInputs] = useState(() => emptyInputs(fields))
  const [judged, setJudged] = useState('""')
  /** Incremented when inputs are replaced, so that the fields start again. */
  const [filled, setFilled] = useState(0)
  const [row, setRow] = useState<PickedRow>()
  const problems = useProblems()
  const fill = (text: string): void => {
    setInputs(text)
    setFilled((times) => times + 1)
    problems.clear()
  }
  const trace = useTraceInputs(search.trace, (given) => {
    fill(given.inputs)
    if (given.outputs !== undefined && isEvaluator) setJudged(given.outputs)
  })
  const [ran, setRan] = useState<string>()
  const { state, run, stop, show } = useRun((outcome) =>
    rememberRun(slug, { at: new Date().toISOString(), variant, version, inputs, outcome }),
  )
  const isRunning = state?.status === 'running'
  const lacking = useRefusal('invoke')
  const start = (): void => {
    setRan(inputs)
    void run({
      revisionId,
      inputs,
      outputs: isEvaluator ? judged : undefined,
      testcaseId: row?.inputs === inputs ? row.testcaseId : undefined,
    })
  }
  useCommands([
    isRunning
      ? { id: 'run', title: 'Stop the run', keys: 'mod+enter', run: stop }
      : {
          id: 'run',
          title: `Run v${version}`,
          keys: 'mod+enter',
          refusal: lacking ?? problems.first,
          run: start,
        },
    { id: 'edit', title: `Edit ${variant}`, keys: 'e', run: () => document.getElementById(EDIT)?.click() },
  ])
  return (
    <Page
      wide
      crumbs={[
        { label: slug, to: places.artifact(slug) },
        {
          label: variant,
          to: places.version(slug, variant, search.version === undefined ? undefined : version),
        },
        { label: 'Run' },
      ]}
      actions={
        <>
          <Link to={places.edit(slug, variant)} id={EDIT} className={styles.edit}>
            Edit {variant}
          </Link>
          {isRunning ? (
            <Button kind="primary" onClick={stop}>
              <Square size={14} aria-hidden /> Stop
            </Button>
          ) : (
            <Button kind="primary" needs="invoke" refusal={problems.first} onClick={start}>
              <Play size={14} aria-hidden /> Run v{version}
            </Button>
          )}
        </>
      }
    >
      {news}
      <div className={styles.columns}>
        <div>
          <RevisionPicker
            slug={slug}
            variant={search.variant ?? variant}
            version={search.version === undefined ? undefined : Number(search.version)}
            shown={version}
            pick={(name, number) =>
              go({ variant: name, version: number === undefined ? undefined : String(number) })
            }
          />
          <RowSource
            testset={search.testset}
            row={Math.max(1, Math.trunc(Number(search.row ?? 1)) || 1)}
            pick={(testset, number) =>
              go({ testset, row: testset === undefined ? undefined : String(number), trace: undefined })
            }
            onRow={(picked) => {
              setRow(picked)
              fill(picked.inputs)
            }}
          />
          {trace.error && <Failure error={trace.error} retry={trace.refetch} />}
          <InputsSection
            key={`${filled} ${revisionId}`}
            slug={slug}
            search={search}
            fields={fields}
            inputs={inputs}
            onInputs={setInputs}
            judged={isEvaluator ? judged : undefined}
            onJudged={setJudged}
            onProblem={problems.note}
            refusal={ran === inputs ? state?.error : undefined}
          />
        </div>
        <div className={styles.outcome}>
          <h2>Output</h2>
          {state ? <Output state={state} /> : <p className={styles.waiting}>The output will appear here.</p>}
          <RecentRuns
            slug={slug}
            show={(recent) => {
              fill(recent.inputs)
              show(recent.outcome)
            }}
          />
        </div>
      </div>
    </Page>
  )
}

const EDIT = 'edit-variant'

interface RecentRunsProps {
  readonly slug: string
  readonly show: (run: RecentRun) => void
}

/** The previous runs of this window; a click shows one with its inputs. */
function RecentRuns({ slug, show }: RecentRunsProps) {
  const runs = useRecentRuns(slug)
  if (runs.length === 0) return null
  return (
    <section aria-label="Runs in this window" className={styles.recent}>
      <h2>Runs in this window</h2>
      <ul>
        {runs.map((run) => (
          <li key={run.id}>
            <button type="button" onClick={() => show(run)}>
              <span>
                {run.variant} v{run.version}
              </span>
              <span data-status={run.outcome.status}>{run.outcome.status}</span>
              <span className={styles.clip} dir="auto">
                {run.inputs}
              </span>
              <span>{run.outcome.ms === undefined ? '' : duration(run.outcome.ms)}</span>
              <Ago date={run.at} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The input of a trace's first span as JSON text, and for an evaluator the outputs that it judged. */
interface TraceInputs {
  readonly inputs: string
  readonly outputs: string | undefined
}

/** Calls back with the inputs of a trace once it is loaded. */
function useTraceInputs(traceId: string | undefined, onInputs: (given: TraceInputs) => void) {
  const answer = useRouteText(
    'GET /traces/{id}',
    { path: { id: traceId ?? '' } },
    { enabled: traceId !== undefined },
  )
  useEffect(() => {
    if (answer.data !== undefined) onInputs(inputsIn(answer.data))
  }, [answer.data])
  return answer
}

function inputsIn(answer: string): TraceInputs {
  const { trace } = JSON.parse(answer) as {
    readonly trace: { readonly spans: Readonly<Record<string, unknown>> }
  }
  const [first] = Object.entries(trace.spans)
  if (!first) return { inputs: '{}', outputs: undefined }
  const [name, span] = first
  const place = ['trace', 'spans', name, ...(Array.isArray(span) ? [0] : [])]
  const asked = [...place, 'attributes', 'svc', 'data', 'inputs']
  return {
    inputs: textAt(answer, [...asked, 'inputs']) ?? textAt(answer, asked) ?? '{}',
    outputs: textAt(answer, [...asked, 'outputs']),
  }
}

/** A previous run of this window. */
interface RecentRun {
  readonly id: number
  readonly at: string
  readonly variant: string
  readonly version: number
  readonly inputs: string
  readonly outcome: RunState
}

/** Runs are kept per artifact until the window is closed. */
const MAX_RUNS_KEPT = 20

const runs = new Map<string, readonly RecentRun[]>()
const listeners = new Set<() => void>()
const NONE: readonly RecentRun[] = []
let made = 0

/** Remembers a finished run. */
function rememberRun(slug: string, run: Omit<RecentRun, 'id'>): void {
  made += 1
  runs.set(slug, [{ id: made, ...run }, ...(runs.get(slug) ?? NONE)].slice(0, MAX_RUNS_KEPT))
  for (const changed of listeners) changed()
}

/** The runs of an artifact in this window, the newest first. */
function useRecentRuns(slug: string): readonly RecentRun[] {
  return useSyncExternalStore(
    (changed) => {
      listeners.add(changed)
      return () => listeners.delete(changed)
    },
    () => runs.get(slug) ?? NONE,
  )
}

interface RevisionPickerProps {
  readonly slug: string
  readonly variant: string
  /** Undefined for the latest version. */
  readonly version: number | undefined
  /** The latest version, if known. */
  readonly shown: number | undefined
  readonly pick: (variant: string, version: number | undefined) => void
}

/** Chooses the revision to run: the latest of a variant, or one of the last hundred versions. */
function RevisionPicker({ slug, variant, version, shown, pick }: RevisionPickerProps) {
  const variants = useRoute('POST /workflows/variants/query', { body: { workflow_refs: [{ slug }] } })
  const log = useRoute(
    'POST /workflows/revisions/log',
    { body: { workflow_ref: { slug }, workflow_variant_ref: { slug: variant }, windowing: { limit: 100 } } },
    { enabled: variant !== '' },
  )
  const revisions = log.data?.workflow_revisions ?? []
  const slugs = variants.data?.workflow_variants.map((it) => it.slug) ?? []
  const isListed = version === undefined || revisions.some((it) => Number(it.version) === version)
  return (
    <div className={styles.picker}>
      <ChoiceField
        label="Variant"
        value={variant}
        choices={[...new Set([variant, ...slugs])].map((value) => ({ value, label: value }))}
        onChange={(value) => pick(value, undefined)}
      />
      <ChoiceField
        label="Version"
        value={version === undefined ? '' : String(version)}
        choices={[
          { value: '', label: version === undefined && shown !== undefined ? `latest: v${shown}` : 'latest' },
          ...(isListed ? [] : [{ value: String(version), label: `v${version}` }]),
          ...revisions.map((it) => ({
            value: String(it.version),
            label: `v${it.version}  ${it.subject.slice(0, 60)}`,
          })),
        ]}
        onChange={(value) => pick(variant, value === '' ? undefined : Number(value))}
      />
    </div>
  )
}
