import { setTimeout as pause } from 'node:timers/promises'
import { counts } from '../../metrics/counters.ts'
import { DatabaseAway, Refusal } from '../../errors.ts'
import { RefMoved } from '../refs/ref-move.ts'
import { unlessGone } from '../trash/gone.ts'
import type { Arbiter } from './arbiter.ts'
import type { RepositoryDisk, Transaction, TransactionJob, Trial } from './transaction.ts'
import { Draft, StoredRefs, TrialDraft } from './transaction.ts'
import { commitDrafts } from './write-path.ts'

/** The jobs of a batch share one pack and one move of their refs. */
const MAX_JOBS_PER_BATCH = 64

/**
 * The one door to a repository's disk. Jobs take turns; those that wait together are worked out one after the other,
 * each on top of the last, and reach the disk together: objects as one synced pack, then the refs. A job that throws
 * stores nothing and disturbs no other. Where the database that decides is away, all who wait are refused with the first one: each of them
 * would wait as long as it did.
 */
export class WriteQueue {
  readonly disk: RepositoryDisk
  readonly arbiter: Arbiter
  #queue: (Entry | ExclusiveJob)[] = []
  #running = false

  constructor(disk: RepositoryDisk, arbiter: Arbiter) {
    this.disk = disk
    this.arbiter = arbiter
  }

  /** Runs the job and resolves with its result once everything it stored is on the disk. */
  run<T>(job: TransactionJob<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      // The queue holds jobs of every result type; each entry's own closure keeps its type.
      const settle = (value: unknown): void => {
        counts.writes++
        resolve(value as T)
      }
      this.#enqueue({ job, resolve: settle, reject })
    })
  }

  /** Does the work while no job of this process writes to the repository. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ work: async () => resolve(await work()), reject })
    })
  }

  /** What is stored now, to work a write out on; looked at afresh if an earlier look turned out to be too old. */
  draft(isFirst: boolean): Draft {
    return new Draft(this.disk, this.#stored(isFirst))
  }

  /** The same, to work out beside the queue what a write would do. */
  trial(isFirst: boolean): Trial {
    return new TrialDraft(this.disk, this.#stored(isFirst))
  }

  #stored(isFirst: boolean): StoredRefs {
    const { refs } = this.disk
    // Seen in this turn is good enough to begin with: under the locks everything is compared afresh.
    return new StoredRefs(isFirst ? refs.shared() : refs.snapshot(), refs)
  }

  #enqueue(waiting: Entry | ExclusiveJob): void {
    this.#queue.push(waiting)
    counts.waitingWrites++
    if (!this.#running) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#running = true
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if ('work' in next) await this.#runAlone(next)
      else await this.#runTogether(this.#nextBatch())
    }
    this.#running = false
  }

  async #runAlone(next: ExclusiveJob): Promise<void> {
    this.#queue.shift()
    counts.waitingWrites--
    try {
      await next.work()
    } catch (error) {
      next.reject(error)
      this.#refuseBehind(error)
    }
  }

  /** The jobs that wait, up to one that wants the repository for itself. */
  #nextBatch(): Entry[] {
    const batch: Entry[] = []
    for (const waiting of this.#queue) {
      if (batch.length === MAX_JOBS_PER_BATCH || 'work' in waiting) break
      batch.push(waiting)
    }
    this.#queue.splice(0, batch.length)
    counts.waitingWrites -= batch.length
    return batch
  }

  #putBack(entries: readonly Entry[]): void {
    this.#queue = [...entries, ...this.#queue]
    counts.waitingWrites += entries.length
  }

  /** `next` are others that have left the queue already. */
  async #runTogether(batch: Entry[], next: Entry[] = []): Promise<void> {
    try {
      await this.#runBatch(batch)
    } catch (error) {
      await this.#refuseTogether(batch, next, error)
    }
  }

  async #refuseTogether(batch: Entry[], next: Entry[], error: unknown): Promise<void> {
    if (batch.length > 1 && error instanceof Refusal && error.code === 'slug_taken') {
      // One of them asked for a ref that cannot be; on their own, the others go through.
      for (let entry = batch.shift(); entry; entry = batch.shift()) await this.#runTogether([entry], batch)
    } else {
      for (const entry of batch) entry.reject(error)
      this.#refuseBehind(error, next)
    }
  }

  /** Refuses all who wait where it took seconds to find that nothing can be decided. */
  #refuseBehind(error: unknown, next: Entry[] = []): void {
    if (!(error instanceof DatabaseAway)) return
    counts.waitingWrites -= this.#queue.length
    for (const { reject } of [...next.splice(0), ...this.#queue.splice(0)]) reject(error.behind())
  }

  /** Takes the jobs out of the batch that have to wait for the next one, and puts them in front of the queue. */
  async #runBatch(batch: Entry[]): Promise<void> {
    const { gitdir, fs } = this.disk
    const settled = await retryOnRefConflict(this.arbiter, gitdir, async (isFirst) => {
      const draft = this.draft(isFirst)
      const outcomes: (() => void)[] = []
      for (const entry of batch) {
        const own = new Draft(this.disk, draft)
        try {
          const result = await entry.job(own)
          draft.merge(own)
          outcomes.push(() => entry.resolve(result))
        } catch (error) {
          outcomes.push(() => entry.reject(unlessGone(error, fs, gitdir)))
        }
        // What lies in a staged pack can be read once it is published, so nothing is worked out on top of it before.
        if (draft.packs.size > 0) this.#putBack(batch.splice(batch.indexOf(entry) + 1))
      }
      await commitDrafts(this.arbiter, [{ draft, ...this.disk }])
      return outcomes
    })
    counts.writeRounds++
    for (const settle of settled) settle()
  }
}

interface Entry {
  readonly job: TransactionJob<unknown>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

interface ExclusiveJob {
  readonly work: () => Promise<void>
  readonly reject: (error: unknown) => void
}

/** How often a write is worked out anew because another process moved a ref first. */
const ATTEMPTS = 200

/**
 * Works a write out, the first time or anew, until no other writer moves its refs meanwhile; refuses with `locked` if that never
 * comes to be.
 */
async function retryOnRefConflict<T>(
  arbiter: Arbiter,
  gitdir: string,
  work: (isFirst: boolean) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt === 1)
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error
      if (attempt === ATTEMPTS) throw keptMoving(gitdir)
      await pause(Math.random() * Math.min(attempt, 20))
      await arbiter.elsewhere?.fresh()
    }
  }
}

function keptMoving(gitdir: string): Refusal {
  return new Refusal(
    'locked',
    `${gitdir}: other writers moved the same refs ${ATTEMPTS} times in a row. Try again in a moment.`,
  )
}

/**
 * Runs one write over several repositories of a store, each named once, and resolves with its result once everything it stored
 * is on the disk: in all of them or, when anything fails, in none, also when the process is killed or the power fails. `job` gets
 * their transactions in the order of `repositories`, and may run again as that of a single write may; it must not wait for
 * another write to any of them. All refs that decide move before those that follow. If the disk fails when a part of the refs
 * has moved already, the error is thrown and the others stay locked until a server is started again, which moves them.
 */
export async function transactAcross<T>(
  repositories: readonly { readonly writer: WriteQueue }[],
  job: (transactions: readonly Transaction[]) => Promise<T>,
): Promise<T> {
  const writers = repositories.map(({ writer }) => writer)
  const ordered = inOrder(writers, (writer) => writer.disk)
  const arbiter = arbiterOf(ordered)
  if (!arbiter) return job([])
  const names = ordered.map(({ disk }) => disk.gitdir).join(' and ')
  return inTurns(ordered, () =>
    retryOnRefConflict(arbiter, names, async (isFirst) => {
      const drafts = writers.map((writer) => ({ ...writer.disk, draft: writer.draft(isFirst) }))
      const result = await job(drafts.map(({ draft }) => draft))
      await commitDrafts(
        arbiter,
        inOrder(drafts, (draft) => draft),
      )
      return result
    }),
  )
}

/** The same order for all writers, so that two such writes never wait for each other. */
function inOrder<T>(items: readonly T[], diskOf: (item: T) => RepositoryDisk): T[] {
  return [...items].sort((a, b) => (diskOf(a).gitdir < diskOf(b).gitdir ? -1 : 1))
}

/** Who decides the write of all of them. */
function arbiterOf(ordered: readonly WriteQueue[]): Arbiter | undefined {
  for (const [index, { disk, arbiter }] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next?.disk.gitdir === disk.gitdir) throw new Error(`${disk.gitdir} is named twice in one write.`)
    if (next && next.arbiter !== arbiter) {
      throw new Error(`${disk.gitdir} and ${next.disk.gitdir} are of two stores, which no write can span.`)
    }
  }
  return ordered[0]?.arbiter
}

/** Does the work in the turns of all of these. */
function inTurns<T>(writers: readonly WriteQueue[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = writers
  return first ? first.exclusive(() => inTurns(others, work)) : work()
}
