import { basename } from 'node:path/posix'
import { LRUCache } from 'lru-cache'
import { v7 as uuidv7 } from 'uuid'
import { Refusal } from '../errors.ts'
import { TimeSlice } from '../scheduling/cooperative.ts'
import type { Release } from '../scheduling/semaphore.ts'
import type { AbandonedLease, Documents, Lease } from '../storage/documents/documents.ts'
import { documentsOf } from '../storage/documents/file-documents.ts'
import { damageOf } from '../versioning/index/damage-of.ts'
import type { Window } from '../versioning/pagination.ts'
import type { Registry } from '../versioning/registry.ts'
import { EvaluationLog } from './evaluation-log.ts'
import { countTestcases } from './evaluation-rows.ts'
import type { EvaluationOrder, EvaluationServices, Evaluator } from './evaluation-services.ts'
import type { Evaluation, EvaluationPlan, RowResult } from './evaluation.ts'
import { evaluatorIn, noteOf } from './evaluation-services.ts'
import { LoggedEvaluation } from './logged-evaluation.ts'
import { nameEvaluators, pinnedRevisionOf } from './pinned.ts'
import type { ResultsWanted } from './results-page.ts'
import { resultsPage } from './results-page.ts'
import { runEvaluation } from './run-evaluation.ts'
import { RunningEvaluation } from './running-evaluation.ts'

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

  /**
   * Goes on with one whose server died or was stopped, unless somebody else does, in the name of whom it noted; resolves once it runs no
   * more. Where there is no permit, it is left to another server, or to the next call.
   */
  async takeOver({ path, note }: AbandonedLease): Promise<void> {
    const id = basename(path)
    const by = evaluatorIn(note)
    const release = by && !this.#isClosed && !this.#running.has(id) && this.#services.permits.tryAcquire()
    if (!by || !release) return
    const goOn = async (lease: Lease): Promise<void> => {
      const log = this.#log(id)
      const running = this.#begin(log.plan)
      running.follow(this.#work(lease, log, running, by, true))
      await running.outcome
    }
    await this.#documents
      .leaseIfFree(path, goOn, { note })
      .catch((error: unknown) => this.#services.onTrouble(error, id))
    this.#ended(id, release)
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
    return this.#documents.isLeased(this.#leaseOf(id))
  }

  #leaseOf(id: string): string {
    return `${this.#folder}/${id}`
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
    const running = this.#begin(log.plan)
    const work = this.#documents
      .lease(this.#leaseOf(log.plan.id), (lease) => this.#work(lease, log, running, by, isResumed), {
        note: noteOf(by),
      })
      .finally(() => this.#ended(log.plan.id, release))
    running.follow(work.catch((error: unknown) => this.#interrupted(log.plan.id, error)))
    // Closed while the log was made: it is there to be resumed.
    if (this.#isClosed) void running.stop()
    return running
  }

  #begin(plan: EvaluationPlan): RunningEvaluation {
    const running = new RunningEvaluation(plan)
    this.#running.set(plan.id, running)
    return running
  }

  #ended(id: string, release: Release): void {
    this.#running.delete(id)
    release()
  }

  async #work(
    lease: Lease,
    log: EvaluationLog,
    running: RunningEvaluation,
    by: Evaluator,
    isResumed: boolean,
  ): Promise<Evaluation> {
    // Another server may run it by now, and what is done here would be refused.
    lease.signal.addEventListener('abort', () => void running.stop(), { once: true })
    const run = { lease, log, running, by, isResumed }
    const evaluation = await runEvaluation({ registry: this.#registry, services: this.#services, ...run })
    if (evaluation.state === 'interrupted' && this.#isClosed) lease.abandon()
    return evaluation
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
}

/** Whether an error says that one log cannot be read, and nothing of the others. */
export function isOfOneLog(error: unknown): boolean {
  const isOther = error instanceof Refusal && error.code !== 'storage_unavailable'
  return isOther || damageOf(error, '') !== undefined
}
