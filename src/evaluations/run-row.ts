import { createHash } from 'node:crypto'
import { StreamedOutputs } from '../handlers/handler.ts'
import { Refusal } from '../errors.ts'
import type { InvocationCaller } from '../invocation/invocation-request.ts'
import type { Invocation, InvocationServices } from '../invocation/invoke.ts'
import { invoke } from '../invocation/invoke.ts'
import type { Json } from '../json/json.ts'
import { startTrace } from '../traces/open-span.ts'
import type { SpanLink } from '../traces/span.ts'
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
}

/**
 * Runs a row through the application, and what comes out of it through the evaluators. All of it is one trace, whose id follows from the
 * evaluation and the row: a row that is run again because a crash came between leaves no second one.
 */
export async function runRow(setting: RowSetting, { testcaseId, data }: EvaluationRow): Promise<RowResult> {
  const { registry, services, plan } = setting
  const ids = (part: string): SpanLink => spanIds(`${plan.id} ${testcaseId}`, part)
  const root = startTrace(
    { ...ids('row'), record: (spans) => services.record(registry, spans) },
    'evaluation',
  )
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
  ): Promise<RunResult> =>
    resultOf(() =>
      invoke(
        registry,
        {
          revisionId,
          inputs: data,
          outputs,
          testcase: { id: testcaseId },
          wantsStream: false,
          parent: { traceId: root.traceId, spanId: root.spanId },
          spanIds: ids(part),
          caller: setting.caller,
          signal: setting.signal,
        },
        services,
      ),
    )
  const application = await run('application', plan.application)
  const evaluators: Record<string, RunResult> = {}
  if ('outputs' in application) {
    for (const evaluator of plan.evaluators)
      evaluators[evaluator.name] = await run(evaluator.name, evaluator, application.outputs)
    root.setData('outputs', evaluators as unknown as Json) // outputs and errors are JSON
  } else
    root.fail({ type: application.error.code, message: application.error.message, stacktrace: undefined })
  root.end()
  return { testcase_id: testcaseId, trace_id: root.traceId, application, evaluators }

  function refer(name: string, pinned: PinnedRevision): void {
    root
      .addReference(name, { id: pinned.artifact_id, slug: pinned.artifact_slug })
      .addReference(`${name}_revision`, {
        id: pinned.revision_id,
        slug: pinned.revision_slug,
        version: String(pinned.version),
      })
  }
}

/** The ids of a span of a row's trace. */
function spanIds(row: string, part: string): SpanLink {
  const hash = (text: string, digits: number): string =>
    createHash('sha256').update(text).digest('hex').slice(0, digits)
  return { traceId: hash(row, 32), spanId: hash(`${row} ${part}`, 16) }
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
