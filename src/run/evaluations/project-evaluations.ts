import { basename } from 'node:path/posix'
import { LRUCache } from 'lru-cache'
import { v7 as uuidv7 } from 'uuid'
import { recentlyUsed } from '../../base/recently-used.ts'
import { Refusal, invalid } from '../../errors.ts'
import { TimeSlice, type Release } from '../../base/scheduling.ts'
import { type AbandonedLease, type Documents, type Lease, documentsOf } from '../../storage/files.ts'
import { damageOf, limitRegistry, type Window, type Registry } from '../../registry/registries.ts'
import { EvaluationLog, type RowPlace } from './evaluation-log.ts'
import { countTestcases, rowsNamed } from './evaluation-rows.ts'
import {
  type EvaluationOrder,
  type EvaluationServices,
  type Evaluator,
  type JudgingOrder,
  evaluatorIn,
  noteOf,
} from './evaluation-services.ts'
import type {
  Evaluation,
  EvaluationPlan,
  ResultOrder,
  RowResult,
  NamedEvaluator,
  PinnedRevision,
} from './evaluation.ts'
import { LoggedEvaluation } from './logged-evaluation.ts'
import {
  type ResultsWanted,
  readCursor,
  resultsPage,
  rowsAsDone,
  rowsInOrder,
  testsetOrder,
} from './results-page.ts'
import {
  type EvaluationRun,
  pinnedRevision,
  rerunRows,
  type RowsAgain,
  runEvaluation,
} from './run-evaluation.ts'
import { RunningEvaluation } from './running-evaluation.ts'
import type { Revision } from '../../registry/revisions.ts'

const MAX_CACHED_EVALUATIONS = 10_000

/** The maximum number of rows whose order is cached, over all finished evaluations; about 200 bytes each. */
const MAX_CACHED_ROWS = 500_000

/** All rows that are not done, or those of some testcases again. */
type HowToRun = Pick<EvaluationRun, 'isResumed'> | Pick<RowsAgain, 'rows'>

/** The requested results; `next` is the cursor of a previous page. */
export type ResultsAsked = Omit<ResultsWanted, 'order'> & { readonly order?: ResultOrder | undefined }

/** The evaluations of a project: those that run in this process, and the logs of all others. */
export class ProjectEvaluations {
  readonly #registry: Registry
  readonly #services: EvaluationServices
  readonly #folder: string
  readonly #documents: Documents
  readonly #running = new Map<string, RunningEvaluation>()
  readonly #logged = new LRUCache<string, LoggedEvaluation>({ max: MAX_CACHED_EVALUATIONS })
  readonly #orders = recentlyUsed<string, ReadonlyMap<string, RowPlace>>(
    MAX_CACHED_ROWS,
    ({ size }) => size + 1,
  )
  #isClosed = false

  constructor(registry: Registry, services: EvaluationServices) {
    this.#registry = registry
    this.#services = services
    this.#folder = `${registry.store.folder}/evaluations`
    this.#documents = documentsOf(registry.store.fs)
  }

  /**
   * Starts an evaluation; resolves when it could be resumed. If an earlier attempt of the same request started it, resumes that. Refuses an
   * evaluation without a permit.
   */
  async start(
    { testset, application, evaluators, concurrency, testcaseIds, outputsFrom }: EvaluationOrder,
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
      const named = testcaseIds && (await rowsNamed(testset, new Set(testcaseIds)))
      const ids = named?.map((row) => row.testcaseId)
      const plan: EvaluationPlan = {
        id: chosen ?? uuidv7(),
        created_at: now().toISOString(),
        created_by: `${by.context.actor.name} <${by.context.actor.email}>`,
        testset: pinnedRevisionOf(testset),
        application: pinnedRevisionOf(application),
        evaluators: nameEvaluators(evaluators),
        concurrency,
        rows: ids ? ids.length : await countTestcases(testset),
        ...(ids ? { testcase_ids: ids } : {}),
        ...(outputsFrom === undefined ? {} : { outputs_from: outputsFrom }),
      }
      this.#assertOpen()
      const log = await EvaluationLog.create(this.#registry.store.fs, this.#folder, plan)
      return this.#run(log, by, { isResumed: false }, release)
    } catch (error) {
      release()
      throw error
    }
  }

  /**
   * Starts an evaluation that judges the outputs of a finished one with other evaluators, without running the application. Refuses an
   * unfinished one, because outputs would be missing.
   */
  async judge(
    id: string,
    { evaluators, concurrency }: JudgingOrder,
    by: Evaluator,
  ): Promise<RunningEvaluation> {
    const { plan, state } = await this.get(id)
    if (state !== 'finished') {
      const first = state === 'running' ? 'Wait until it is' : `Finish it with POST /evaluations/${id}/resume`
      throw new Refusal(
        'contradictory_request',
        `The evaluation ${id} is not finished, so not all of its outputs are there to be judged. ${first}.`,
      )
    }
    const [testset, application] = await Promise.all([
      pinnedRevision(this.#registry, 'testset', plan.testset.revision_id),
      pinnedRevision(this.#registry, 'workflow', plan.application.revision_id),
    ])
    const order = { testset, application, evaluators, concurrency: concurrency ?? plan.concurrency }
    return this.start({ ...order, testcaseIds: plan.testcase_ids, outputsFrom: plan.outputs_from ?? id }, by)
  }

  /**
   * Resumes an interrupted evaluation; one that runs in this process is answered unchanged. Refuses one that another server runs, and one
   * without a permit.
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
    return this.#run(this.#log(id), by, { isResumed: true }, this.#acquire())
  }

  /**
   * Runs rows of a finished evaluation again, with its revisions, and replaces their results. Refuses one that is not finished, and one
   * without a permit.
   */
  async rerun(id: string, testcaseIds: readonly string[], by: Evaluator): Promise<RunningEvaluation> {
    this.#assertOpen()
    const { plan, state } = await this.get(id)
    if (state !== 'finished') {
      const first = state === 'running' ? 'Wait until it is' : `Finish it with POST /evaluations/${id}/resume`
      throw new Refusal(
        'contradictory_request',
        `The evaluation ${id} is not finished, so its rows cannot be run again yet. ${first}.`,
      )
    }
    const testset = await pinnedRevision(this.#registry, 'testset', plan.testset.revision_id)
    const rows = await rowsNamed(testset, new Set(testcaseIds), plan.testcase_ids)
    return this.#run(this.#log(id), by, { rows }, this.#acquire())
  }

  async get(id: string): Promise<Evaluation> {
    const running = this.#running.get(id)
    if (running) return running.now()
    const log = this.#log(id)
    return this.#loggedAs(id, log).now(() => this.#isHeld(id))
  }

  /** All evaluations, oldest first. A log that cannot be read is skipped and reported. */
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
        // An evaluation whose start was never acknowledged is skipped silently.
        if (!(error instanceof Refusal) || error.code !== 'evaluation_not_found')
          this.#services.onTrouble(error, id)
      }
    })
    return found
  }

  /**
   * Resumes an evaluation whose server died or stopped, in the name of the caller in the note, unless another server has it. Resolves when it
   * no longer runs. Without a permit, it is left to another server or a later call.
   */
  async takeOver({ path, note }: AbandonedLease): Promise<void> {
    const id = basename(path)
    const by = evaluatorIn(note)
    const release = by && !this.#isClosed && !this.#running.has(id) && this.#services.permits.tryAcquire()
    if (!by || !release) return
    const goOn = async (lease: Lease): Promise<void> => {
      const log = this.#log(id)
      const running = this.#begin(log.plan)
      running.follow(this.#work(lease, log, running, by, { isResumed: true }))
      await running.outcome
    }
    await this.#documents
      .leaseIfFree(path, goOn, { note })
      .catch((error: unknown) => this.#services.onTrouble(error, id))
    this.#ended(id, release)
  }

  /**
   * A page of the finished rows. Without an order or a cursor, a finished evaluation answers the testset's order; an unfinished one, or one
   * whose testset cannot be read, the order of completion. Refuses a cursor of a different order.
   */
  async results(id: string, asked: ResultsAsked): Promise<Window<RowResult>> {
    const log = this.#log(id)
    const { stamp } = log
    try {
      return await this.#results(log, asked)
    } catch (error) {
      // Rows were replaced meanwhile, so others lie elsewhere in the log.
      if (error instanceof Refusal && error.code === 'damaged_repository' && stamp !== log.stamp)
        return this.#results(log, asked)
      throw error
    }
  }

  async #results(
    log: EvaluationLog,
    { order: asked, next, ...wanted }: ResultsAsked,
  ): Promise<Window<RowResult>> {
    const cursor = next === undefined ? undefined : readCursor(next)
    if (cursor && asked !== undefined && asked !== cursor.order) {
      throw invalid(
        ['body', 'windowing', 'next'],
        `${next} goes on in the order "${cursor.order}", and "order" asks for "${asked}". Leave "order" out, or begin without "next".`,
        'invalid_cursor',
      )
    }
    const isFinished = log.end() !== undefined
    const wish = asked ?? cursor?.order
    const behind = { ...wanted, next: cursor?.id }
    if (wish === 'done' || (wish === undefined && !isFinished))
      return resultsPage(log, rowsAsDone(log), { ...behind, order: 'done' })
    const order = await this.#testsetOrder(log, isFinished).catch((error: unknown) => {
      if (wish !== undefined || !isOfOneLog(error)) throw error
      return undefined
    })
    return order
      ? resultsPage(log, rowsInOrder(log, order), { ...behind, order: 'testset' })
      : resultsPage(log, rowsAsDone(log), { ...behind, order: 'done' })
  }

  /** The order is cached only for a finished evaluation, because its log changes only if rows are run again. */
  async #testsetOrder(log: EvaluationLog, isFinished: boolean): Promise<ReadonlyMap<string, RowPlace>> {
    const { id, testset } = log.plan
    const { stamp } = log
    const key = `${id} ${stamp}`
    const kept = this.#orders.get(key)
    if (kept) return kept
    const order = await testsetOrder(
      log,
      await pinnedRevision(this.#registry, 'testset', testset.revision_id),
    )
    if (isFinished && stamp === log.stamp) this.#orders.set(key, order)
    return order
  }

  /** Interrupts an evaluation of this process; resolves when it no longer runs. Refuses one that another server runs. */
  async stop(id: string): Promise<Evaluation> {
    await this.#running.get(id)?.stop()
    const evaluation = await this.get(id)
    if (evaluation.state === 'running' && !this.#running.has(id)) throw this.#elsewhere(id)
    return evaluation
  }

  /** Interrupts all evaluations and starts no more; resolves when none runs. */
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

  /** The ids of evaluations that any server runs now. */
  running(): Promise<readonly string[]> {
    return this.#documents.leased(this.#folder)
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

  /** A permit to run an evaluation. It may be held for hours, so a caller without one is refused at once. */
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

  /** `release` returns the permit. */
  #run(log: EvaluationLog, by: Evaluator, how: HowToRun, release: Release): RunningEvaluation {
    const running = this.#begin(log.plan)
    const work = this.#documents
      .lease(this.#leaseOf(log.plan.id), (lease) => this.#work(lease, log, running, by, how), {
        note: noteOf(by),
      })
      .finally(() => this.#ended(log.plan.id, release))
    running.follow(work.catch((error: unknown) => this.#interrupted(log.plan.id, error)))
    // If closed meanwhile, the evaluation can be resumed later.
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
    how: HowToRun,
  ): Promise<Evaluation> {
    // The lease is lost: another server may run the evaluation, and writes would be refused.
    lease.signal.addEventListener('abort', () => void running.stop(), { once: true })
    const { outputs_from: from } = log.plan
    const source = from === undefined ? undefined : this.#log(from)
    const registry = by.folders ? limitRegistry(this.#registry, by.folders) : this.#registry
    const run = { registry, services: this.#services, lease, log, source, running, by }
    const evaluation = await ('rows' in how
      ? rerunRows({ ...run, ...how })
      : runEvaluation({ ...run, ...how }))
    if (evaluation.state === 'interrupted' && this.#isClosed) lease.abandon()
    return evaluation
  }

  /** Reports why an evaluation was interrupted, and how to resume it. */
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

/** Whether an error concerns a single log only. */
export function isOfOneLog(error: unknown): boolean {
  const isOther = error instanceof Refusal && error.code !== 'storage_unavailable'
  return isOther || damageOf(error, '') !== undefined
}

/** The names that identify a revision permanently. */
function pinnedRevisionOf({ artifact, id, slug, version }: Revision): PinnedRevision {
  return {
    artifact_id: artifact.id,
    artifact_slug: artifact.slug,
    revision_id: id,
    revision_slug: slug,
    version,
  }
}

/** The distinct evaluators, with distinct names. */
function nameEvaluators(evaluators: readonly Revision[]): readonly NamedEvaluator[] {
  const unique = [...new Map(evaluators.map((it) => [it.id, it])).values()]
  return unique.map((evaluator) => {
    const { artifact, slug } = evaluator
    const isAlone = unique.filter((it) => it.artifact.id === artifact.id).length === 1
    return { name: isAlone ? artifact.slug : slug, ...pinnedRevisionOf(evaluator) }
  })
}
