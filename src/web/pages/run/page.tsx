import { useParams, useSearch } from '@tanstack/react-router'
import { Play, Plus, Square } from 'lucide-react'
import { type ReactNode, useCallback, useMemo, useState } from 'react'
import { useRouteText } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { useProblems } from '../../parts/fields/fields.tsx'
import { textAt } from '../../parts/json-text/json-text.ts'
import { Page } from '../../parts/page/page.tsx'
import {
  completeInputs,
  continuedInputs,
  type InputField,
  inputFields,
  takesMessages,
} from '../../parts/run/inputs.ts'
import { InputsForm } from '../../parts/run/inputs-form.tsx'
import { Output, shownText } from '../../parts/run/output.tsx'
import { RecentRuns, rememberRun } from '../../parts/run/recent-runs.tsx'
import { RowSource, useRows } from '../../parts/run/row-source.tsx'
import { type InputsSource, useInputs, useSource } from '../../parts/run/use-inputs.ts'
import { type RunJob, useRuns } from '../../parts/run/use-runs.ts'
import { Failure } from '../../parts/states/states.tsx'
import { Toggles } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { places, useChangeAddress } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { PlaygroundColumn, type Ready } from './column.tsx'
import {
  type Column,
  type ColumnEnd,
  columnsOf,
  freeNumber,
  MOST_COLUMNS,
  type RunSearch,
  writtenEnd,
} from './columns.ts'
import styles from './playground.module.css'
import { RunGrid, runKey } from './run-grid.tsx'

/** `/a/<slug>/run`: the playground. One to four versions or drafts, run on the same inputs, or on rows of a testset. */
export default function PlaygroundPage() {
  const { slug = '' } = useParams({ strict: false })
  return <Playground key={slug} slug={slug} />
}

/** The most rows of a testset that one click on *Run* executes. */
const MOST_ROWS = 50

type Change = { readonly [K in keyof RunSearch]?: string | undefined }

function Playground({ slug }: { readonly slug: string }) {
  const search = useSearch({ strict: false }) as RunSearch
  const columns = columnsOf(search)
  const change = useChangeAddress()
  const go = (parameters: Change): void => change(parameters, true)
  const show = (ends: readonly ColumnEnd[]): void =>
    go({
      columns: ends.map(writtenEnd).join(','),
      left: undefined,
      variant: undefined,
      version: undefined,
    })
  const [found, setFound] = useState<ReadonlyMap<string, Ready>>(new Map())
  const onReady = useCallback((key: string, ready: Ready | undefined): void => {
    setFound((before) => {
      const after = new Map(before)
      if (ready) after.set(key, ready)
      else after.delete(key)
      return after
    })
  }, [])
  const ready = columns.flatMap((column) => {
    const it = found.get(column.key)
    return it ? [{ ...it, column }] : []
  })
  const first = ready[0]

  const { testset } = search
  const row = Math.max(1, Math.trunc(Number(search.row ?? 1)) || 1)
  const judges = ready.some((it) => it.judges)
  // An evaluator evaluates one output, which is typed.
  const isGrid = search.grid === '1' && testset !== undefined && !judges
  const rows = useRows(testset, row, isGrid ? MOST_ROWS : 1)
  const fields = useMemo(() => fieldsOf(ready), [ready.map(({ data }) => data).join('\n')])
  const inputs = useInputs(slug)
  const problems = useProblems()
  const trace = useTraceSource(search.trace)
  useSource(isGrid ? undefined : (trace.source ?? rows.rows[0]), inputs, problems.clear)

  const [ran, setRan] = useState<string>()
  const {
    states,
    isRunning,
    start,
    stop,
    show: showRun,
  } = useRuns(({ key, request }, outcome) =>
    rememberRun(slug, {
      title: ready.find(({ column }) => key.startsWith(`${column.key} `))?.title ?? '',
      inputs: request.inputs,
      names: fields.map(({ name }) => name),
      outcome,
    }),
  )
  const lacking = useRefusal('invoke')
  const refusal =
    (ready.length < columns.length ? 'Not every column is loaded.' : undefined) ??
    ready.find((it) => it.refusal !== undefined)?.refusal ??
    (isGrid ? undefined : problems.first) ??
    (isGrid && rows.rows.length === 0 ? 'There are no rows to run.' : undefined)

  function run(given: string): void {
    setRan(given)
    const sources: readonly InputsSource[] = isGrid
      ? rows.rows
      : [
          {
            key: ONE,
            inputs: completeInputs(given, fields),
            ...(given === inputs.inputs && inputs.testcaseId !== undefined
              ? { testcaseId: inputs.testcaseId }
              : {}),
          },
        ]
    const jobs: readonly RunJob[] = sources.flatMap((source) =>
      ready.map((it) => ({
        key: runKey(it.column.key, source.key),
        request: {
          executed: it.executed,
          inputs: source.inputs,
          outputs: it.judges ? inputs.judged : undefined,
          testcaseId: source.testcaseId,
        },
      })),
    )
    void start(jobs)
  }
  const calls = rows.rows.length * columns.length
  const action = isGrid
    ? `Run ${counted(rows.rows.length, 'row')} · ${counted(calls, 'call')}`
    : columns.length > 1
      ? `Run ${columns.length} columns`
      : `Run ${first?.title.replace(`${first.variant} `, '') ?? ''}`.trim()
  useCommands([
    isRunning
      ? { id: 'run', title: 'Stop the runs', keys: 'mod+enter', run: stop }
      : {
          id: 'run',
          title: action,
          keys: 'mod+enter',
          refusal: lacking ?? refusal,
          run: () => run(inputs.inputs),
        },
    {
      id: 'add column',
      title: 'Add a column',
      refusal: columns.length < MOST_COLUMNS ? undefined : TOO_MANY,
      run: () => addAfter(columns.length - 1, endAfter(columns)),
    },
  ])

  const ends = columns.map(({ end }) => end)
  /** A draft is in one column only: a second one of the variant begins at its head. */
  const own = (end: ColumnEnd, others: readonly ColumnEnd[]): ColumnEnd =>
    end.kind === 'draft' && others.some((it) => writtenEnd(it) === writtenEnd(end))
      ? { ...end, number: freeNumber(columns, end.variant) }
      : end
  const addAfter = (at: number, end: ColumnEnd): void => show(ends.toSpliced(at + 1, 0, own(end, ends)))
  const firstText = first && textOf(runKey(first.column.key, ONE))
  function textOf(key: string): string | undefined {
    const outputs = states.get(key)?.outputs
    return outputs === undefined ? undefined : shownText(outputs)
  }
  const marks = search.marks === '1' && columns.length > 1
  function outputOf({ key }: Column): ReactNode {
    const state = states.get(runKey(key, ONE))
    const { data = '{}' } = found.get(key) ?? {}
    const goOn = (reply: string, next: string): void => {
      const continued = continuedInputs(inputs.inputs, reply, next)
      inputs.fill({ inputs: continued })
      run(continued)
    }
    return (
      <>
        <p className={styles.note} hidden={state !== undefined}>
          The output will appear here.
        </p>
        <Output
          state={state}
          beside={marks && key !== columns[0]?.key ? firstText : undefined}
          onNext={key === columns[0]?.key && takesMessages(data) && !isRunning ? goOn : undefined}
          nextHint={columns.length > 1 ? 'All columns continue from this answer.' : undefined}
        />
      </>
    )
  }
  return (
    <Page
      wide
      crumbs={[{ label: slug, to: places.artifact(slug) }, { label: 'Playground' }]}
      actions={
        <>
          {columns.length > 1 && (
            <Button aria-pressed={marks} onClick={() => go({ marks: marks ? undefined : '1' })}>
              Mark differences
            </Button>
          )}
          <Button
            refusal={columns.length < MOST_COLUMNS ? undefined : TOO_MANY}
            onClick={() => addAfter(columns.length - 1, endAfter(columns))}
          >
            <Plus size={14} aria-hidden /> Add a column
          </Button>
          {isRunning ? (
            <Button kind="primary" onClick={stop}>
              <Square size={14} aria-hidden /> Stop
            </Button>
          ) : (
            <Button
              kind="primary"
              needs="invoke"
              refusal={refusal}
              title="Ctrl+Enter"
              onClick={() => run(inputs.inputs)}
            >
              <Play size={14} aria-hidden /> {action}
            </Button>
          )}
        </>
      }
    >
      <NewsLine
        concerns={({ kind, references }) =>
          kind === 'revision' &&
          ready.some((it) => it.variant === references['workflow_variant']?.slug) &&
          references['workflow']?.slug === slug
        }
      />
      <div className={styles.playground} data-columns={columns.length} data-grid={isGrid || undefined}>
        <div className={styles.given}>
          <RowSource
            testset={testset}
            row={row}
            total={rows.total}
            rowsAtOnce={isGrid ? MOST_ROWS : 1}
            error={rows.error}
            retry={rows.refetch}
            pick={(picked, number) =>
              go({
                testset: picked,
                row: picked && String(number),
                grid: picked && search.grid,
                trace: undefined,
              })
            }
          />
          {testset !== undefined && judges && (
            <p className={styles.note}>
              An evaluator runs here on one row at a time, with the output that is given below. To have it
              judge the outputs of many rows, evaluate the prompt that writes them.
            </p>
          )}
          {testset !== undefined && !judges && (
            <>
              <Toggles
                label="How many rows run"
                choices={[
                  { label: 'One row', value: undefined },
                  { label: `Up to ${MOST_ROWS} rows`, value: '1' },
                ]}
                value={isGrid ? '1' : undefined}
                onChange={(grid) => go({ grid })}
              />
              {isGrid && rows.total !== undefined && rows.total > MOST_ROWS && (
                <p className={styles.note}>At most {MOST_ROWS} rows run at once, from the chosen row on.</p>
              )}
            </>
          )}
          {trace.error && <Failure error={trace.error} retry={trace.refetch} />}
          {!isGrid && inputs.isRead && (
            <InputsForm
              fields={fields}
              state={inputs}
              judges={judges}
              onProblem={problems.note}
              refusal={
                ran === inputs.inputs ? first && states.get(runKey(first.column.key, ONE))?.error : undefined
              }
            />
          )}
        </div>
        <div className={styles.columns}>
          {columns.map((column, at) => (
            <PlaygroundColumn
              key={column.key}
              slug={slug}
              column={column}
              number={at + 1}
              count={columns.length}
              onReady={onReady}
              replace={(end) => {
                const others = ends.toSpliced(at, 1)
                show(ends.toSpliced(at, 1, own(end, others)))
              }}
              add={(end) => addAfter(at, end)}
              remove={() => show(ends.toSpliced(at, 1))}
              isFolded={isGrid}
              free={(variant) => freeNumber(columns, variant)}
            >
              {!isGrid && outputOf(column)}
            </PlaygroundColumn>
          ))}
        </div>
      </div>
      {isGrid && (
        <RunGrid
          rows={rows.rows}
          from={row}
          columns={ready.map(({ column, title }) => ({ key: column.key, title }))}
          states={states}
          marks={marks}
          names={fields.map(({ name }) => name)}
          testset={testset}
        />
      )}
      <RecentRuns
        slug={slug}
        testset={testset}
        again={(recent) => {
          inputs.fill({ inputs: recent.inputs })
          problems.clear()
          if (isGrid) go({ grid: undefined })
        }}
        {...(first && columns.length === 1 && !isGrid
          ? {
              show: (recent) => {
                inputs.fill({ inputs: recent.inputs })
                showRun(runKey(first.column.key, ONE), recent.outcome)
              },
            }
          : {})}
      />
    </Page>
  )
}

/** The key of the typed inputs, where no rows run. */
const ONE = 'typed'

const TOO_MANY = `There are ${MOST_COLUMNS} columns at most.`

function counted(count: number, what: string): string {
  return `${count.toLocaleString()} ${what}${count === 1 ? '' : 's'}`
}

/** What a new column begins with: what the last one has, to choose another version of. */
function endAfter(columns: readonly Column[]): ColumnEnd {
  return columns.at(-1)?.end ?? { kind: 'stored', variant: undefined, version: undefined }
}

/** The inputs of all columns, each once. */
function fieldsOf(ready: readonly Ready[]): readonly InputField[] {
  const fields = ready.flatMap(({ data }) => inputFields(data))
  return fields.filter(({ name }, at) => fields.findIndex((it) => it.name === name) === at)
}

/** The inputs of a trace's first span, and for an evaluator the output that it evaluated. */
function useTraceSource(traceId: string | undefined) {
  const { data, error, refetch } = useRouteText(
    'GET /traces/{id}',
    { path: { id: traceId ?? '' } },
    { enabled: traceId !== undefined, immutable: true },
  )
  const source = useMemo(
    () => (traceId === undefined || data === undefined ? undefined : sourceIn(traceId, data)),
    [traceId, data],
  )
  return { source, error, refetch }
}

function sourceIn(key: string, answer: string): InputsSource {
  const { trace } = JSON.parse(answer) as {
    readonly trace: { readonly spans: Readonly<Record<string, unknown>> }
  }
  const [first] = Object.entries(trace.spans)
  if (!first) return { key, inputs: '{}' }
  const [name, span] = first
  const place = ['trace', 'spans', name, ...(Array.isArray(span) ? [0] : [])]
  const asked = [...place, 'attributes', 'svc', 'data', 'inputs']
  return {
    key,
    inputs: textAt(answer, [...asked, 'inputs']) ?? textAt(answer, asked) ?? '{}',
    judged: textAt(answer, [...asked, 'outputs']),
  }
}
