import { Refusal } from '../errors.ts'
import type { Lease } from '../storage/documents/documents.ts'
import type { Registry } from '../versioning/registry.ts'
import { revisionById } from '../versioning/revisions/references.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import { readRevisionAt } from '../versioning/revisions/revision.ts'
import type { EvaluationLog } from './evaluation-log.ts'
import { writeEvaluationNote } from './evaluation-note.ts'
import { evaluationRows } from './evaluation-rows.ts'
import type { EvaluationServices, Evaluator } from './evaluation-services.ts'
import type { Evaluation, RunResult } from './evaluation.ts'
import { rowTraceId, runRow } from './run-row.ts'
import { mostCutShort, runRows } from './run-rows.ts'
import type { RunningEvaluation } from './running-evaluation.ts'

/** More rows than this are no note: whoever clones the application would have them all. */
const MOST_NOTED = 100_000

export interface EvaluationRun {
  readonly registry: Registry
  readonly services: EvaluationServices
  /** To run it. */
  readonly lease: Lease
  readonly log: EvaluationLog
  /** The log of the evaluation whose outputs are judged; undefined where the application is to run. */
  readonly source: EvaluationLog | undefined
  readonly running: RunningEvaluation
  readonly by: Evaluator
  /** Whether rows were run before. */
  readonly isResumed: boolean
}

/** Runs the rows that are not done, and writes what came of all of them; one that is stopped is answered as interrupted. */
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
  // Another server was quicker.
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
    rows: evaluationRows(testset),
    done,
    run: async (row) => {
      // Parts of a run that was cut short must not be left beside those of the next.
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
    { plan, summary, finishedAt, results: plan.rows > MOST_NOTED ? [] : log.rows() },
    by.context,
  )
  await log.finish(lease, { finished_at: finishedAt, summary })
  return { plan, state: 'finished', finishedAt, summary }
}

/** What the application made of each row. Of rows only the places are kept in memory: outputs may be long. */
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

/** A revision that an evaluation has pinned. */
export async function pinnedRevision(registry: Registry, family: string, id: string): Promise<Revision> {
  const found = registry.families.find(({ name }) => name === family)
  if (!found) throw new Error(`the registry has no family ${family}`)
  return readRevisionAt(registry, await revisionById(registry, found, id))
}

/** What cannot be removed cannot be written beside either. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}
