import { Refusal } from '../../errors.ts'
import type { Lease } from '../../storage/files.ts'
import type { Registry } from '../../registry/registries.ts'
import { revisionById, type Revision, readRevisionAt } from '../../registry/revisions.ts'
import type { EvaluationLog } from './evaluation-log.ts'
import { writeEvaluationNote } from './evaluation-note.ts'
import { evaluationRows, type EvaluationRow, type NamedRow, readRows, rowsNamed } from './evaluation-rows.ts'
import type { EvaluationServices, Evaluator } from './evaluation-services.ts'
import type { Evaluation, RunResult, RowResult, EvaluationPlan, PinnedRevision } from './evaluation.ts'
import type { RunningEvaluation } from './running-evaluation.ts'
import { usageOf } from './tally.ts'
import { hash } from 'node:crypto'
import { StreamedOutputs } from '../handlers/handler.ts'
import type { InvocationCaller } from '../invocation/invocation-request.ts'
import { type Invocation, type InvocationServices, invoke } from '../invocation/invoke.ts'
import { fromEntries, type Json, type JsonObject } from '../../base/json.ts'
import { startTrace, type Span, type SpanLink } from '../../feeds/traces.ts'

/** With more rows than this, the note has no rows, because every clone of the application gets it. */
const MAX_ROWS_IN_NOTE = 100_000

export interface EvaluationRun {
  readonly registry: Registry
  readonly services: EvaluationServices
  /** The lease to run the evaluation. */
  readonly lease: Lease
  readonly log: EvaluationLog
  /** The log of the evaluation whose outputs are judged; undefined to run the application. */
  readonly source: EvaluationLog | undefined
  readonly running: RunningEvaluation
  readonly by: Evaluator
  /** Whether rows may have been run before. */
  readonly isResumed: boolean
}

/** Runs the unfinished rows and writes all results. An aborted evaluation is answered as interrupted. */
export async function runEvaluation({
  registry,
  services: { tracesOf, invocation },
  lease,
  log,
  source,
  running,
  by,
  isResumed,
}: EvaluationRun): Promise<Evaluation> {
  const { plan } = log
  const { signal } = running
  await log.mend(lease)
  const end = log.end()
  // Another server has finished the evaluation.
  if (end) return { plan, state: 'finished', finishedAt: end.finished_at, summary: end.summary }
  const [testset, application] = await Promise.all([
    pinnedRevision(registry, 'testset', plan.testset.revision_id),
    pinnedRevision(registry, 'workflow', plan.application.revision_id),
  ])
  const done = new Set<string>()
  for await (const row of log.rows()) {
    const result = row.read()
    done.add(result.testcase_id)
    running.add([result])
  }
  const traces = tracesOf(registry)
  const outputsOf = source && (await outputsIn(source))
  const setting = { registry, services: invocation, plan, caller: by.caller, signal, outputsOf }
  let mayHaveBegun = isResumed ? mostCutShort(plan.concurrency) : 0
  await runRows({
    concurrency: plan.concurrency,
    keep: (results) => log.add(lease, results),
    rows: plan.testcase_ids
      ? readRows(await rowsNamed(testset, new Set(plan.testcase_ids)))
      : evaluationRows(testset),
    done,
    run: async (row) => {
      // Remove what an interrupted run of the row has recorded.
      if (mayHaveBegun-- > 0) await traces.remove(rowTraceId(plan, row)).catch(ignoreRefusal)
      return runRow(setting, row)
    },
    settle: () => traces.stored(),
    onDone: (results) => running.add(results),
    signal,
  })
  if (signal.aborted) return { ...running.now(), state: 'interrupted' }
  const now = registry.now()
  const finishedAt = now.toISOString()
  const { summary } = running.now()
  await writeEvaluationNote(
    registry,
    application,
    { plan, summary, finishedAt, results: plan.rows > MAX_ROWS_IN_NOTE ? [] : log.rows() },
    by.context,
  )
  await log.finish(lease, { finished_at: finishedAt, summary })
  return { plan, state: 'finished', finishedAt, summary }
}

/** Rows of a finished evaluation that are to be run again. */
export interface RowsAgain extends Omit<EvaluationRun, 'isResumed'> {
  readonly rows: readonly NamedRow[]
}

/**
 * Runs rows of a finished evaluation again, with its revisions, and replaces their results and traces. Until all have run, or the evaluation
 * is stopped, readers see the results before; those that were done by then are kept.
 */
export async function rerunRows({
  registry,
  services: { tracesOf, invocation },
  lease,
  log,
  source,
  running,
  by,
  rows: named,
}: RowsAgain): Promise<Evaluation> {
  const { plan } = log
  const { signal } = running
  const application = await pinnedRevision(registry, 'workflow', plan.application.revision_id)
  const testcaseIds = new Set(named.map((it) => it.testcaseId))
  for await (const row of log.rows()) if (!testcaseIds.has(row.testcaseId)) running.add([row.read()])
  const recorded: (readonly Span[])[] = []
  const collecting = {
    ...invocation,
    record: (_: Registry, spans: readonly Span[]) => void recorded.push(spans),
  }
  const outputsOf = source && (await outputsIn(source))
  const setting = { registry, services: collecting, plan, caller: by.caller, signal, outputsOf }
  const results: RowResult[] = []
  await runRows({
    concurrency: plan.concurrency,
    keep: async (some) => some.forEach((result) => results.push(result)),
    rows: readRows(named),
    done: new Set(),
    run: (row) => runRow(setting, row),
    settle: async () => undefined,
    onDone: (some) => running.add(some),
    signal,
  })
  const traces = tracesOf(registry)
  for (const { trace_id: id } of results) await traces.remove(id).catch(ignoreRefusal)
  for (const spans of recorded) invocation.record(registry, spans)
  await traces.stored()
  const done = new Set(results.map(({ testcase_id: id }) => id))
  // Those that a stop has left keep their results.
  for await (const row of log.rows())
    if (testcaseIds.has(row.testcaseId) && !done.has(row.testcaseId)) running.add([row.read()])
  const { summary } = running.now()
  const finishedAt = registry.now().toISOString()
  await log.replace(lease, results, { finished_at: finishedAt, summary })
  const rows = plan.rows > MAX_ROWS_IN_NOTE ? [] : log.rows()
  await writeEvaluationNote(registry, application, { plan, summary, finishedAt, results: rows }, by.context)
  return { plan, state: 'finished', finishedAt, summary }
}

/** The application's result of each row. Only places are kept in memory, because outputs may be long. */
async function outputsIn(log: EvaluationLog): Promise<(testcaseId: string) => Promise<RunResult>> {
  const places = await log.places()
  return async (testcaseId) => {
    const place = places.get(testcaseId)
    for await (const row of log.rowsAt(place ? [place] : [])) return row.read().application
    throw new Refusal(
      'damaged_repository',
      `The evaluation ${log.plan.id} is finished, but its log lacks the testcase ${testcaseId}. Restore the log from a backup, or ` +
        'run the application anew with POST /evaluations/run.',
    )
  }
}

/** A revision pinned by an evaluation. */
export async function pinnedRevision(registry: Registry, family: string, id: string): Promise<Revision> {
  const found = registry.families.find(({ name }) => name === family)
  if (!found) throw new Error(`the registry has no family ${family}`)
  return readRevisionAt(await revisionById(registry, found, id))
}

/** A refusal to remove spans is ignored, because recording them would be refused too. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}

/** No further row starts while this many results wait for the disk. */
const MAX_RESULTS_WAITING = 200

/**
 * The maximum number of rows that may have started without being in the log when the process is killed. They are among the first unfinished
 * rows.
 */
const mostCutShort = (concurrency: number): number => 2 * (MAX_RESULTS_WAITING + concurrency) + concurrency

interface RowRun {
  /** The number of rows that run at once. */
  readonly concurrency: number
  /** Saves results; resolves when they are on the disk. */
  readonly keep: (results: readonly RowResult[]) => Promise<void>
  readonly rows: AsyncIterable<EvaluationRow>
  /** Testcases whose rows are finished. */
  readonly done: ReadonlySet<string>
  readonly run: (row: EvaluationRow) => Promise<RowResult>
  /** Resolves when the traces of the rows are stored, so that each finished row has one. */
  readonly settle: () => Promise<void>
  /** Called with results that are on the disk. */
  readonly onDone: (results: readonly RowResult[]) => void
  readonly signal: AbortSignal
}

/**
 * Runs the unfinished rows, `plan.concurrency` at once, and logs the results. Results that come during a write are written together in the
 * next one. Rows interrupted by the signal are not logged, and will be run again.
 */
async function runRows({
  concurrency,
  keep,
  rows,
  done,
  run,
  settle,
  onDone,
  signal,
}: RowRun): Promise<void> {
  const source = rows[Symbol.asyncIterator]()
  let waiting: RowResult[] = []
  let writing: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  await Promise.all(Array.from({ length: concurrency }, work))
  await source.return?.()
  await writing
  if (failure) throw failure.error

  async function work(): Promise<void> {
    while (!signal.aborted && !failure) {
      try {
        const next = await source.next()
        if (next.done) return
        if (done.has(next.value.testcaseId)) continue
        const result = await run(next.value)
        if (signal.aborted) return
        waiting.push(result)
        write()
        if (waiting.length >= MAX_RESULTS_WAITING) await writing
      } catch (error) {
        failure ??= { error }
      }
    }
  }

  function write(): void {
    writing ??= writeWaiting()
  }

  /** The check for more results and the reset of `writing` happen in one step, so that no result is left waiting. */
  async function writeWaiting(): Promise<void> {
    try {
      while (waiting.length > 0) {
        const batch = waiting
        waiting = []
        await settle()
        await keep(batch)
        onDone(batch)
      }
    } catch (error) {
      failure ??= { error }
    }
    writing = undefined
  }
}

interface RowSetting {
  readonly registry: Registry
  readonly services: InvocationServices
  readonly plan: EvaluationPlan
  readonly caller: InvocationCaller
  readonly signal: AbortSignal
  /** The application's result in the evaluation whose outputs are judged; undefined to run the application. */
  readonly outputsOf: ((testcaseId: string) => Promise<RunResult>) | undefined
}

/** The trace id of a row, derived from the evaluation and the row, so that a second run after a crash makes no second trace. */
function rowTraceId({ id }: Pick<EvaluationPlan, 'id'>, { testcaseId }: EvaluationRow): string {
  return digits(`${id} ${testcaseId}`, 32)
}

/** The span of the application or of an evaluator in a row's trace. */
function spanOf(traceId: string, part: string): SpanLink {
  return { traceId, spanId: digits(`${traceId} ${part}`, 16) }
}

/**
 * Runs a row through the application, and its outputs through the evaluators. All spans are one trace, recorded at the end of the row; an
 * interrupted row records none. If outputs of another evaluation are judged, the trace links to the run that made them.
 */
async function runRow(setting: RowSetting, row: EvaluationRow): Promise<RowResult> {
  const { registry, services, plan, caller, signal, outputsOf } = setting
  const { testcaseId, data } = row
  const traceId = rowTraceId(plan, row)
  const trace: Span[] = []
  const record = (spans: readonly Span[]): void => {
    for (const span of spans) trace.push(span)
    root.addRun(spans)
  }
  const collecting = { ...services, record: (_: Registry, spans: readonly Span[]) => record(spans) }
  const source = plan.outputs_from
  const links =
    source === undefined
      ? undefined
      : new Map([['invocation', spanOf(rowTraceId({ id: source }, row), 'application')]])
  const begun = performance.now()
  const root = startTrace({ ...spanOf(traceId, 'row'), links, record }, 'evaluation')
  root
    .setData('inputs', { inputs: data })
    .setAttribute('tags', { evaluation_id: plan.id })
    .addReference('testcase', { id: testcaseId })
  refer('testset', plan.testset)
  refer('application', plan.application)
  const run = async (
    part: string,
    { revision_id: revisionId }: PinnedRevision,
    outputs?: Json,
    judges = false,
  ): Promise<RunResult> =>
    resultOf(() =>
      invoke(
        registry,
        {
          revisionId,
          inputs: data,
          outputs,
          judges,
          testcase: { id: testcaseId },
          wantsStream: false,
          parent: root,
          spanIds: spanOf(traceId, part),
          caller,
          untilGone: () => signal,
          isPatient: true,
        },
        collecting,
      ),
    )
  const application = await (outputsOf?.(testcaseId) ?? run('application', plan.application))
  const judged: (readonly [string, RunResult])[] = []
  if ('outputs' in application) {
    for (const evaluator of plan.evaluators)
      judged.push([evaluator.name, await run(evaluator.name, evaluator, application.outputs, true)])
    root.setData('outputs', fromEntries(judged as unknown as [string, JsonObject][])) // outputs and errors are JSON
  } else
    root.fail({ type: application.error.code, message: application.error.message, stacktrace: undefined })
  root.end()
  if (!signal.aborted) services.record(registry, trace)
  const usage = usageOf(Math.round(performance.now() - begun), root.usage)
  return {
    testcase_id: testcaseId,
    trace_id: traceId,
    application,
    evaluators: Object.fromEntries(judged),
    usage,
  }

  function refer(name: string, pinned: PinnedRevision): void {
    root
      .addReference(name, { id: pinned.artifact_id, slug: pinned.artifact_slug })
      .addReference(`${name}_revision`, {
        id: pinned.revision_id,
        slug: pinned.revision_slug,
        version: services.versionType === 'string' ? String(pinned.version) : pinned.version,
      })
  }
}

/** Hexadecimal digits derived from a text. */
function digits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count)
}

/** The result of a run. A refusal, for example of a missing reference, is an error of this row. */
async function resultOf(run: () => Promise<Invocation>): Promise<RunResult> {
  try {
    const { result } = await run()
    if ('outputs' in result) return result
    if ('failure' in result) {
      const { code, message, secret } = result.failure
      return { error: { code, message, ...(secret === undefined ? {} : { secret }) } }
    }
    return { outputs: result.stream instanceof StreamedOutputs ? result.stream.whole() : null }
  } catch (error) {
    if (error instanceof Refusal) return { error: { code: error.code, message: error.message } }
    throw error
  }
}
