import { hash } from 'node:crypto'
import { StreamedOutputs } from '../handlers/handler.ts'
import { Refusal } from '../errors.ts'
import type { InvocationCaller } from '../invocation/invocation-request.ts'
import type { Invocation, InvocationServices } from '../invocation/invoke.ts'
import { invoke } from '../invocation/invoke.ts'
import { fromEntries, type Json, type JsonObject } from '../json/json.ts'
import { startTrace } from '../traces/recording/open-span.ts'
import type { Span, SpanLink } from '../traces/span.ts'
import type { Registry } from '../versioning/registry.ts'
import type { EvaluationPlan, PinnedRevision, RowResult, RunResult } from './evaluation.ts'
import type { EvaluationRow } from './evaluation-rows.ts'

/** What rows are run with. */
export interface RowSetting {
  readonly registry: Registry
  readonly services: InvocationServices
  readonly plan: EvaluationPlan
  readonly caller: InvocationCaller
  readonly signal: AbortSignal
  /** What the application made of a row in the evaluation whose outputs are judged; undefined where the application is to run. */
  readonly outputsOf: ((testcaseId: string) => Promise<RunResult>) | undefined
}

/** The trace of a row. Its id follows from the evaluation and the row: a row that is run again after a crash leaves no second one. */
export function rowTraceId({ id }: Pick<EvaluationPlan, 'id'>, { testcaseId }: EvaluationRow): string {
  return digits(`${id} ${testcaseId}`, 32)
}

/** The span of a part of a row's trace: that of the application, or of an evaluator by its name. */
function spanOf(traceId: string, part: string): SpanLink {
  return { traceId, spanId: digits(`${traceId} ${part}`, 16) }
}

/**
 * Runs a row through the application, and what comes out of it through the evaluators. All of it is one trace, recorded when the row is
 * done; one that is cut short leaves none. Where outputs of another evaluation are judged, the trace links to the run that made them.
 */
export async function runRow(setting: RowSetting, row: EvaluationRow): Promise<RowResult> {
  const { registry, services, plan, caller, signal, outputsOf } = setting
  const { testcaseId, data } = row
  const traceId = rowTraceId(plan, row)
  const trace: Span[] = []
  const record = (spans: readonly Span[]): void => {
    for (const span of spans) trace.push(span)
  }
  const collecting = { ...services, record: (_: Registry, spans: readonly Span[]) => record(spans) }
  const source = plan.outputs_from
  const links =
    source === undefined
      ? undefined
      : new Map([['invocation', spanOf(rowTraceId({ id: source }, row), 'application')]])
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
  return { testcase_id: testcaseId, trace_id: traceId, application, evaluators: Object.fromEntries(judged) }

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

/** So many hex digits that follow from a text. */
function digits(text: string, count: number): string {
  return hash('sha256', text, 'hex').slice(0, count)
}

/** What came of a run. What refuses it (a reference that points at nothing, say) is a failure of this row. */
async function resultOf(run: () => Promise<Invocation>): Promise<RunResult> {
  try {
    const { result } = await run()
    if ('outputs' in result) return result
    if ('failure' in result) return { error: { code: result.failure.code, message: result.failure.message } }
    return { outputs: result.stream instanceof StreamedOutputs ? result.stream.whole() : null }
  } catch (error) {
    if (error instanceof Refusal) return { error: { code: error.code, message: error.message } }
    throw error
  }
}
