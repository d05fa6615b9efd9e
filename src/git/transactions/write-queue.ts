import { setTimeout as pause } from 'node:timers/promises'
import { counts } from '../../metrics/counters.ts'
import { DatabaseAway, Refusal } from '../../errors.ts'
import { CacheFile } from '../../storage/cache-file.ts'
import type { Oid } from '../objects/object.ts'
import type { RefReader, RefSnapshot } from '../refs/ref-store.ts'
import { NOTES_FOLDER } from '../refs/ref-stamps.ts'
import { RefMoved } from '../refs/ref-move.ts'
import { unlessGone } from '../trash/gone.ts'
import type { Arbiter } from './arbiter.ts'
import type { BaseRefs } from './pending-changes.ts'
import { PendingChanges, TrialChanges } from './pending-changes.ts'
import type { TransactionJob, Trial } from './transaction.ts'
import type { RepositoryDisk } from './write-path.ts'
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
      this.#enqueue({ job, resolve: resolve as (value: unknown) => void, reject })
    })
  }

  /** Does the work while no job of this process writes to the repository. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#enqueue({ work: async () => resolve(await work()), reject })
    })
  }

  /** What is stored now, to work a write out on; looked at afresh if an earlier look turned out to be too old. */
  pendingChanges(isFirst: boolean): PendingChanges {
    return this.#changesOn(PendingChanges, isFirst)
  }

  /** The same, to work out beside the queue what a write would do. */
  trial(isFirst: boolean): Trial {
    return this.#changesOn(TrialChanges, isFirst)
  }

  #changesOn<T>(
    changes: new (...args: ConstructorParameters<typeof PendingChanges>) => T,
    isFirst: boolean,
  ): T {
    const { fs, gitdir, objects, refs } = this.disk
    // Seen in this turn is good enough to begin with: under the locks everything is compared afresh.
    const seen = isFirst ? refs.shared() : refs.snapshot()
    return new changes(draftRefs(seen, refs), objects, (name) => new CacheFile(fs, `${gitdir}/${name}`))
  }

  #enqueue(waiting: Entry | ExclusiveJob): void {
    this.#queue.push(waiting)
    counts.waitingWrites++
    if (!this.#running) void this.#drain()
  }

  async #drain(): Promise<void> {
    this.#running = true
    for (let next = this.#queue[0]; next; next = this.#queue[0]) {
      if (isTurn(next)) {
        this.#queue.shift()
        counts.waitingWrites--
        await next.work().catch((error: unknown) => {
          next.reject(error)
          this.#refuseBehind(error)
        })
      } else await this.#runTogether(this.#nextBatch())
    }
    this.#running = false
  }

  /** The jobs that wait, up to one that wants the repository for itself. */
  #nextBatch(): Entry[] {
    const batch: Entry[] = []
    for (const waiting of this.#queue) {
      if (batch.length === MAX_JOBS_PER_BATCH || isTurn(waiting)) break
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
      if (batch.length > 1 && error instanceof Refusal && error.code === 'slug_taken') {
        // One of them asked for a ref that cannot be; on their own, the others go through.
        for (let entry = batch.shift(); entry; entry = batch.shift()) await this.#runTogether([entry], batch)
      } else {
        for (const entry of batch) entry.reject(error)
        this.#refuseBehind(error, next)
      }
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
    const settled = await retryOnRefConflict(this.arbiter, this.disk.gitdir, async (isFirst) => {
      const draft = this.pendingChanges(isFirst)
      const outcomes: (() => void)[] = []
      for (const entry of batch) {
        const own = draft.fork()
        try {
          const result = await entry.job(own)
          draft.merge(own)
          outcomes.push(() => {
            counts.writes++
            entry.resolve(result)
          })
        } catch (error) {
          outcomes.push(() => entry.reject(unlessGone(error, this.disk.fs, this.disk.gitdir)))
        }
        // What lies in a staged pack can be read once it is published, so nothing is worked out on top of it before.
        if (draft.packs().length > 0) this.#putBack(batch.splice(batch.indexOf(entry) + 1))
      }
      await commitDrafts(this.arbiter, [{ draft, ...this.disk }])
      return outcomes
    })
    counts.writeRounds++
    for (const settle of settled) settle()
  }
}

/** The refs of a look, and those it does not cover: these are looked at when they are asked for, once. */
function draftRefs({ refs: all }: RefSnapshot, reader: RefReader): BaseRefs {
  const asked = new Map<string, Oid | undefined>()
  return {
    all,
    get: (name) => {
      if (!name.startsWith(`${NOTES_FOLDER}/`)) return all.get(name)
      if (!asked.has(name)) asked.set(name, reader.current(name))
      return asked.get(name)
    },
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

function isTurn(waiting: Entry | ExclusiveJob): waiting is ExclusiveJob {
  return 'work' in waiting
}

/** How often a write is worked out anew because another process moved a ref first. */
const ATTEMPTS = 200

/**
 * Works a write out, the first time or anew, until no other writer moves its refs meanwhile; refuses with `locked` if that never
 * comes to be.
 */
export async function retryOnRefConflict<T>(
  arbiter: Arbiter,
  gitdir: string,
  work: (isFirst: boolean) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    try {
      return await work(attempt === 1)
    } catch (error) {
      if (!(error instanceof RefMoved)) throw error
      await pause(Math.random() * Math.min(attempt, 20))
      await arbiter.fresh()
    }
  }
  throw new Refusal(
    'locked',
    `${gitdir}: other writers moved the same refs ${ATTEMPTS} times in a row. Try again in a moment.`,
  )
}
