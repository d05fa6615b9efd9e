import { LRUCache } from 'lru-cache'
import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../errors.ts'
import { TimeSlice } from '../scheduling/cooperative.ts'
import type { Release } from '../scheduling/semaphore.ts'
import type { Documents, Lease } from '../storage/documents/documents.ts'
import { documentsOf } from '../storage/documents/file-documents.ts'
import { damageOf } from '../versioning/index/damage-of.ts'
import type { Window } from '../versioning/pagination.ts'
import type { Registry } from '../versioning/registry.ts'
import { revisionById } from '../versioning/revisions/references.ts'
import type { Revision } from '../versioning/revisions/revision.ts'
import { readRevisionAt } from '../versioning/revisions/revision.ts'
import { EvaluationLog } from './evaluation-log.ts'
import { writeEvaluationNote } from './evaluation-note.ts'
import { countTestcases, evaluationRows } from './evaluation-rows.ts'
import type { EvaluationOrder, EvaluationServices, Evaluator } from './evaluation-services.ts'
import type { Evaluation, EvaluationPlan, RowResult } from './evaluation.ts'
import { LoggedEvaluation } from './logged-evaluation.ts'
import { nameEvaluators, pinnedRevisionOf } from './pinned.ts'
import type { ResultsWanted } from './results-page.ts'
import { resultsPage } from './results-page.ts'
import { rowTraceId, runRow } from './run-row.ts'
import { mostCutShort, runRows } from './run-rows.ts'
import { RunningEvaluation } from './running-evaluation.ts'

/** More rows than this are no note: whoever clones the application would have them all. */
const MOST_NOTED = 100_000

/** Of so many evaluations it is remembered what their logs say. */
const MOST_REMEMBERED = 10_000

/** The evaluations of a project: those that run here, and what is kept of all others. */
export class ProjectEvaluations {
  readonly #registry: Registry
  readonly #services: EvaluationServices
  readonly #folder: string
  readonly #documents: Documents
  readonly #running = new Map<string, RunningEvaluation>()
  readonly #logged = new LRUCache<string, LoggedEvaluation>({ max: MOST_REMEMBERED })
  #isClosed = false

  constructor(registry: Registry, services: EvaluationServices) {
    this.#registry = registry
    this.#services = services
    this.#folder = `${registry.store.folder}/evaluations`
    this.#documents = documentsOf(registry.store.fs)
  }

  /**
   * Begins an evaluation; resolves once it could be resumed. Where an earlier attempt at the same request began it, that is gone on with.
   * Refuses one for which there is no permit.
   */
  async start(
    { testset, application, evaluators, concurrency }: EvaluationOrder,
    by: Evaluator,
  ): Promise<RunningEvaluation> {
    const { now } = this.#registry
    const { artifactId: chosen, attemptedAt } = by.context
    if (
      chosen !== undefined &&
      attemptedAt &&
      EvaluationLog.open(this.#registry.store.fs, this.#folder, chosen)
    )
      return this.resume(chosen, by)
    const release = this.#acquire()
    try {
      const plan: EvaluationPlan = {
        id: chosen ?? uuidv7(),
        created_at: now().toISOString(),
        created_by: `${by.context.actor.name} <${by.context.actor.email}>`,
        testset: pinnedRevisionOf(testset),
        application: pinnedRevisionOf(application),
        evaluators: nameEvaluators(evaluators),
        concurrency,
        rows: await countTestcases(testset),
      }
      this.#assertOpen()
      const log = await EvaluationLog.create(this.#registry.store.fs, this.#folder, plan)
      return this.#run(log, by, false, release)
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * Goes on with one that was interrupted; the one that runs here is answered as it is. Refuses one that another server runs, and one
   * for which there is no permit.
   */
  async resume(id: string, by: Evaluator): Promise<RunningEvaluation> {
    this.#assertOpen()
    const { state } = await this.get(id)
    const running = this.#running.get(id)
    if (running) return running
    if (state === 'running') throw this.#elsewhere(id)
    if (state === 'finished') {
      throw new Refusal(
        'contradictory_request',
        `The evaluation ${id} is finished; there is nothing to resume.`,
      )
    }
    return this.#run(this.#log(id), by, true, this.#acquire())
  }

  async get(id: string): Promise<Evaluation> {
    const running = this.#running.get(id)
    if (running) return running.now()
    const log = this.#log(id)
    return this.#loggedAs(id, log).now(() => this.#isHeld(id))
  }

  /** All of them, the oldest first. A log that cannot be read is left out and told of. */
  async list(): Promise<Evaluation[]> {
    const found: Evaluation[] = []
    const ids = EvaluationLog.ids(this.#registry.store.fs, this.#folder)
    await new TimeSlice().each(ids, async (id) => {
      try {
        const running = this.#running.get(id)
        const logged = running ? undefined : (this.#logged.get(id) ?? this.#loggedAs(id, this.#log(id)))
        const evaluation = running ? running.now() : await logged?.now(() => this.#isHeld(id))
        if (evaluation) found.push(evaluation)
      } catch (error) {
        if (!isOfOneLog(error)) throw error
        // Of one that was never answered for there is nothing to tell.
        if (!(error instanceof Refusal) || error.code !== 'evaluation_not_found')
          this.#services.onTrouble(error, id)
      }
    })
    return found
  }

  /** A page of the rows that are done, in the order in which they were. */
  async results(id: string, wanted: ResultsWanted): Promise<Window<RowResult>> {
    return resultsPage(this.#log(id), wanted)
  }

  /** Interrupts one that runs here; resolves once nothing of it runs any more. Refuses one that another server runs. */
  async stop(id: string): Promise<Evaluation> {
    await this.#running.get(id)?.stop()
    const evaluation = await this.get(id)
    if (evaluation.state === 'running' && !this.#running.has(id)) throw this.#elsewhere(id)
    return evaluation
  }

  /** Interrupts all of them, and begins no more; resolves once nothing runs. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#running.values()].map((running) => running.stop()))
  }

  #assertOpen(): void {
    if (!this.#isClosed) return
    throw new Refusal('storage_unavailable', 'This server is about to stop. Ask again once it has started.')
  }

  #log(id: string): EvaluationLog {
    const log = EvaluationLog.open(this.#registry.store.fs, this.#folder, id)
    if (log) return log
    throw new Refusal(
      'evaluation_not_found',
      `There is no evaluation with the id ${id}. List them with POST /evaluations/query.`,
    )
  }

  #loggedAs(id: string, log: EvaluationLog): LoggedEvaluation {
    let logged = this.#logged.get(id)
    if (!logged) this.#logged.set(id, (logged = new LoggedEvaluation(log)))
    return logged
  }

  #isHeld(id: string): Promise<boolean> {
    return this.#documents.isLeased(`${this.#folder}/${id}`)
  }

  #elsewhere(id: string): Refusal {
    return new Refusal(
      'locked',
      `The evaluation ${id} is being run by another server on this store. Follow it with GET /evaluations/${id}, or ask that server.`,
    )
  }

  /** A permit to run one, which may be held for hours: whoever finds none is refused at once. */
  #acquire(): Release {
    const { permits } = this.#services
    const release = permits.tryAcquire()
    if (release) return release
    throw new Refusal(
      'overloaded',
      `This server runs ${permits.capacity} evaluations already, the most that it takes at once. Try again when one of them has ` +
        'ended, stop one of yours with POST /evaluations/{id}/stop, or have the operator raise EVALUATIONS_AT_ONCE.',
    )
  }

  /** `release` gives its permit back. */
  #run(log: EvaluationLog, by: Evaluator, isResumed: boolean, release: Release): RunningEvaluation {
    const { id } = log.plan
    const running = new RunningEvaluation(log.plan)
    this.#running.set(id, running)
    const work = this.#documents
      .lease(`${this.#folder}/${id}`, (lease) => this.#work(log, running, by, lease, isResumed))
      .finally(() => {
        this.#running.delete(id)
        release()
      })
    running.follow(work.catch((error: unknown) => this.#interrupted(id, error)))
    // Closed while the log was made: it is there to be resumed.
    if (this.#isClosed) void running.stop()
    return running
  }

  /** Says what kept it from going on, and how to go on. */
  #interrupted(id: string, error: unknown): never {
    this.#services.onTrouble(error, id)
    const { syscall, message } = error as Partial<NodeJS.ErrnoException> // anything may be thrown
    if (syscall === undefined) throw error
    throw new Refusal(
      'storage_unavailable',
      `The evaluation ${id} was interrupted, as the disk under the store failed: ${message}. Go on with POST /evaluations/${id}/resume ` +
        'once the operator has seen to it; rows that are done are not run again.',
    )
  }

  async #work(
    log: EvaluationLog,
    running: RunningEvaluation,
    by: Evaluator,
    lease: Lease,
    isResumed: boolean,
  ): Promise<Evaluation> {
    const { plan } = log
    const registry = this.#registry
    const { signal } = running
    // Another server may run it by now, and what is done here would be refused.
    lease.signal.addEventListener('abort', () => void running.stop(), { once: true })
    await log.mend(lease)
    const end = log.end()
    // Another server was quicker.
    if (end) return { plan, state: 'finished', finishedAt: end.finished_at, summary: end.summary }
    const [testset, application] = await Promise.all([
      this.#revision('testset', plan.testset.revision_id),
      this.#revision('workflow', plan.application.revision_id),
    ])
    const done = new Set<string>()
    for await (const row of log.rows()) {
      const result = row.read()
      done.add(result.testcase_id)
      running.add([result])
    }
    const traces = this.#services.tracesOf(registry)
    const services = this.#services.invocation
    const setting = { registry, services, plan, caller: by.caller, signal }
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

  async #revision(family: string, id: string): Promise<Revision> {
    const found = this.#registry.families.find(({ name }) => name === family)
    if (!found) throw new Error(`the registry has no family ${family}`)
    return readRevisionAt(this.#registry, await revisionById(this.#registry, found, id))
  }
}

/** What cannot be removed cannot be written beside either. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}

/** Whether an error says that one log cannot be read, and nothing of the others. */
export function isOfOneLog(error: unknown): boolean {
  const isOther = error instanceof Refusal && error.code !== 'storage_unavailable'
  return isOther || damageOf(error, '') !== undefined
}
