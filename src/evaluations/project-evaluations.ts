import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../errors.ts'
import { holdingLock } from '../git/lock.ts'
import type { InvocationCaller } from '../invocation/invocation-request.ts'
import type { InvocationServices } from '../invocation/invoke.ts'
import type { WriteContext } from '../versioning/change-artifact.ts'
import { revisionById } from '../versioning/references.ts'
import type { Registry } from '../versioning/registry.ts'
import type { Revision } from '../versioning/revision.ts'
import { readRevisionAt } from '../versioning/revision.ts'
import type { EvaluationPlan, EvaluationState, EvaluationSummary, RowResult } from './evaluation.ts'
import { EvaluationLog } from './evaluation-log.ts'
import { writeEvaluationNote } from './evaluation-note.ts'
import { countRows, evaluationRows } from './evaluation-rows.ts'
import { nameEvaluators, pinned } from './pinned.ts'
import { runRow } from './run-row.ts'
import { runRows } from './run-rows.ts'
import { RunningEvaluation } from './running-evaluation.ts'
import { Tally } from './tally.ts'

/** An evaluation as it stands. */
export interface Evaluation {
  readonly plan: EvaluationPlan
  readonly state: EvaluationState
  readonly finishedAt: string | undefined
  readonly summary: EvaluationSummary
}

/** What is to be evaluated, by what. */
export interface EvaluationOrder {
  readonly testset: Revision
  readonly application: Revision
  readonly evaluators: readonly Revision[]
  readonly concurrency: number
}

/** Who has something evaluated. */
export interface Evaluator {
  readonly context: WriteContext
  readonly caller: InvocationCaller
}

/** More rows than this are no note: whoever clones the application would have them all. */
const MOST_NOTED = 100_000

/** The evaluations of a project: those that run here, and what is kept of all others. */
export class ProjectEvaluations {
  readonly #registry: Registry
  readonly #services: InvocationServices
  readonly #folder: string
  readonly #running = new Map<string, RunningEvaluation>()

  constructor(registry: Registry, services: InvocationServices) {
    this.#registry = registry
    this.#services = services
    this.#folder = `${registry.store.folder}/evaluations`
  }

  /** Begins an evaluation; resolves once it could be resumed. */
  async start(
    { testset, application, evaluators, concurrency }: EvaluationOrder,
    by: Evaluator,
  ): Promise<RunningEvaluation> {
    const { now } = this.#registry
    const plan: EvaluationPlan = {
      id: uuidv7(),
      created_at: now().toISOString(),
      created_by: `${by.context.actor.name} <${by.context.actor.email}>`,
      testset: pinned(testset),
      application: pinned(application),
      evaluators: nameEvaluators(evaluators),
      concurrency,
      rows: await countRows(testset),
    }
    return this.#run(await EvaluationLog.create(this.#registry.store.fs, this.#folder, plan), by)
  }

  /** Goes on with one that was interrupted; the one that runs here is answered as it is. */
  async resume(id: string, by: Evaluator): Promise<RunningEvaluation> {
    const running = this.#running.get(id)
    if (running) return running
    const log = this.#log(id)
    if (this.get(id).state === 'finished') {
      throw new Refusal(
        'contradictory_request',
        `The evaluation ${id} is finished; there is nothing to resume.`,
      )
    }
    await log.mend()
    return this.#run(log, by)
  }

  get(id: string): Evaluation {
    const running = this.#running.get(id)
    return running ? running.now() : stored(this.#log(id))
  }

  /** All of them, the oldest first. */
  *list(): Generator<Evaluation> {
    for (const id of EvaluationLog.ids(this.#registry.store.fs, this.#folder)) yield this.get(id)
  }

  /** The rows that are done, in the order in which they were. */
  results(id: string): Iterable<RowResult> {
    return this.#log(id).read()
  }

  /** Interrupts one that runs here; resolves once nothing of it runs any more. */
  async stop(id: string): Promise<Evaluation> {
    this.#log(id)
    const running = this.#running.get(id)
    await running?.stop()
    return this.get(id)
  }

  /** Interrupts all of them. */
  async close(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.stop()))
  }

  #log(id: string): EvaluationLog {
    const log = EvaluationLog.open(this.#registry.store.fs, this.#folder, id)
    if (log) return log
    throw new Refusal(
      'evaluation_not_found',
      `There is no evaluation with the id ${id}. List them with POST /evaluations/query.`,
    )
  }

  #run(log: EvaluationLog, by: Evaluator): RunningEvaluation {
    const { plan } = log
    const running = new RunningEvaluation(plan)
    this.#running.set(plan.id, running)
    const work = holdingLock(this.#registry.store.fs, this.#folder, plan.id, () =>
      this.#work(log, running, by),
    )
    running.follow(work.finally(() => this.#running.delete(plan.id)).then(() => this.get(plan.id)))
    return running
  }

  async #work(log: EvaluationLog, running: RunningEvaluation, by: Evaluator): Promise<void> {
    const { plan } = log
    const registry = this.#registry
    const [testset, application] = await Promise.all([
      this.#revision('testset', plan.testset.revision_id),
      this.#revision('workflow', plan.application.revision_id),
    ])
    const done = new Set<string>()
    for (const row of log.read()) {
      done.add(row.testcase_id)
      running.add([row])
    }
    const setting = { registry, services: this.#services, plan, caller: by.caller, signal: running.signal }
    await runRows({
      log,
      rows: evaluationRows(testset),
      done,
      run: (row) => runRow(setting, row),
      onDone: (results) => running.add(results),
      signal: running.signal,
    })
    if (running.signal.aborted) return
    const finishedAt = registry.now()
    const { summary } = running.now()
    const results = plan.rows > MOST_NOTED ? [] : log.read()
    await writeEvaluationNote(
      registry,
      application,
      { plan, summary, finishedAt: finishedAt.toISOString(), results },
      by.context,
    )
    await log.finish(finishedAt)
  }

  async #revision(family: string, id: string): Promise<Revision> {
    const found = this.#registry.families.find(({ name }) => name === family)
    if (!found) throw new Error(`the registry has no family ${family}`)
    return readRevisionAt(this.#registry, await revisionById(this.#registry, found, id))
  }
}

/** What a log says of an evaluation that does not run here. */
function stored(log: EvaluationLog): Evaluation {
  const tally = new Tally(log.plan.evaluators.map(({ name }) => name))
  const rows = log.read()
  for (let next = rows.next(); ; next = rows.next()) {
    if (next.done) {
      const finishedAt = next.value
      return {
        plan: log.plan,
        state: finishedAt === undefined ? 'interrupted' : 'finished',
        finishedAt,
        summary: tally.summary(),
      }
    }
    tally.add(next.value)
  }
}
