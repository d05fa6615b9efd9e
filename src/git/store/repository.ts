import { setTimeout as pause } from 'node:timers/promises'
import { DatabaseAway, Refusal } from '../../errors.ts'
import { counts } from '../../base/counters.ts'
import { CacheFile, type Fs, sweepDeadLocks } from '../../storage/files.ts'
import { History } from '../history/first-parent-history.ts'
import { staleFilesOfGit, mayHaveStaleFiles } from '../maintenance/stale-files.ts'
import { ObjectDatabase } from '../objects/object-database.ts'
import { type GitObject, type ObjectKind, type Oid, hashObject } from '../objects/object.ts'
import type { PackCache } from '../packs/pack-cache.ts'
import { type PackableObject, type StagedPack, sweepStagedPacks } from '../packs/pack-writer.ts'
import type { SequentialPackReader } from '../packs/sequential-pack-reader.ts'
import { StreamingPackWriter } from '../packs/streaming-pack-writer.ts'
import { gitOn } from '../program/git-process.ts'
import { IncomingObjects } from '../receive/incoming-objects.ts'
import type { PackStream } from '../receive/index-pack.ts'
import { sweepQuarantines } from '../receive/quarantine.ts'
import { type RefMove, RefMoved } from '../refs/ref-move.ts'
import { type SavedRefs, RefReader, REF_FOLDERS, NOTES_FOLDER, lockFolders } from '../refs/ref-store.ts'
import type { Arbiter, DecisionNote, NameClaim } from '../transactions/arbiter.ts'
import type { Transaction, TransactionJob, Trial } from '../transactions/transaction.ts'
import { type Drafted, commitDrafts } from '../transactions/write-path.ts'
import { makeFolderIn, unlessGone } from '../trash/gone.ts'

/** All jobs of a batch share one pack and one move of their refs. */
const MAX_JOBS_PER_BATCH = 64

/**
 * One bare git repository. The rooms above reach the disk of git only through it. Reads see the changes of any git process. Writes use git's own
 * locks, and one queue: those that wait together are worked out one after the other, each on top of the last, and reach the disk together, objects
 * as one pack, then the refs. A job that throws stores nothing and does not affect the others. If the deciding database is away, all waiting jobs
 * are refused with the first one, because each of them would wait as long.
 */
export class Repository {
  readonly fs: Fs
  readonly path: string
  readonly objects: ObjectDatabase
  readonly refs: RefReader
  readonly arbiter: Arbiter
  /** Made on first use: in a store with very many repositories most are only listed. */
  #history: History | undefined
  #queue: (Entry | ExclusiveJob)[] = []
  #isWriting = false

  /** `saved` is the result of `refs.save` of another object for the same repository. */
  constructor(fs: Fs, path: string, packs: PackCache, arbiter: Arbiter, saved?: SavedRefs) {
    this.fs = fs
    this.path = path
    this.objects = new ObjectDatabase(fs, path, packs)
    this.refs = new RefReader(fs, path, saved)
    this.arbiter = arbiter
  }

  get history(): History {
    return (this.#history ??= new History(this.fs, this.path, this.objects))
  }

  /** Runs a write. Resolves with the result of the job once everything it stored is on the disk. */
  transact<T>(job: TransactionJob<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (result: unknown): void => {
        counts.writes++
        resolve(result as T) // The queue holds jobs with results of any type; this is the result of its own job.
      }
      this.#enqueue({ job, resolve: settle, reject })
    })
  }

  /** Does the work while no job of this process writes to the repository. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#enqueue({ work: async () => resolve(await work()), reject })
    })
  }

  #enqueue(waiting: Entry | ExclusiveJob): void {
    this.#queue.push(waiting)
    counts.waitingWrites++
    if (!this.#isWriting) void this.#workOff()
  }

  async #workOff(): Promise<void> {
    this.#isWriting = true
    while (this.#queue.length > 0) {
      const batch: Entry[] = []
      for (const waiting of this.#queue) {
        if (batch.length === MAX_JOBS_PER_BATCH || 'work' in waiting) break
        batch.push(waiting)
      }
      const taken = this.#queue.splice(0, Math.max(batch.length, 1))
      counts.waitingWrites -= taken.length
      if (batch.length === 0)
        await this.#runAlone(taken[0] as ExclusiveJob) // The first one is not an entry of a job.
      else await this.#runTogether(batch).catch((error: unknown) => this.#refuse(batch, [], error))
    }
    this.#isWriting = false
  }

  async #runAlone({ work, reject }: ExclusiveJob): Promise<void> {
    try {
      await work()
    } catch (error) {
      reject(error)
      this.#refuseBehind(error, [])
    }
  }

  /**
   * Works out the jobs of a batch, each on top of those before it, and stores them as one write. The first draft becomes the draft of the batch; a
   * job that throws loses its draft. Jobs that have to wait for the next batch go back into the queue.
   */
  async #runTogether(batch: Entry[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      let draft: Draft | undefined
      const outcomes: (() => void)[] = []
      try {
        for (const { job, resolve, reject } of batch) {
          const own: Draft = draft ? new Draft(this, draft) : this.draft(attempt === 1)
          try {
            const result = await job(own)
            if (draft) draft.merge(own)
            else draft = own
            outcomes.push(() => resolve(result))
          } catch (error) {
            outcomes.push(() => reject(unlessGone(error, this.fs, this.path)))
          }
          // A staged pack can be read only after it is published, so no job is worked out on top of it before that.
          if (draft && draft.packs.size > 0) this.#putBack(batch.splice(outcomes.length))
        }
        if (draft) await commitDrafts(this.arbiter, [{ repository: this, draft }])
      } catch (error) {
        await untilNextAttempt(attempt, error, this.arbiter, this.path)
        continue
      }
      counts.writeRounds++
      for (const settle of outcomes) settle()
      return
    }
  }

  #putBack(entries: readonly Entry[]): void {
    this.#queue = [...entries, ...this.#queue]
    counts.waitingWrites += entries.length
  }

  /** Fails the jobs of a batch that cannot be stored together; `next` are others that have left the queue already. */
  async #refuse(batch: Entry[], next: Entry[], error: unknown): Promise<void> {
    if (batch.length > 1 && error instanceof Refusal && error.code === 'slug_taken') {
      // One job has moved a ref to an impossible name or value. On their own, the others succeed.
      for (let entry = batch.shift(); entry; entry = batch.shift()) {
        const alone = [entry]
        await this.#runTogether(alone).catch((its: unknown) => this.#refuse(alone, batch, its))
      }
    } else {
      for (const entry of batch) entry.reject(error)
      this.#refuseBehind(error, next)
    }
  }

  /** Refuses all waiting jobs if it took seconds to find that nothing can be decided. */
  #refuseBehind(error: unknown, next: Entry[]): void {
    if (!(error instanceof DatabaseAway)) return
    counts.waitingWrites -= this.#queue.length
    for (const { reject } of [...next.splice(0), ...this.#queue.splice(0)]) reject(error.behind())
  }

  /** The stored state, as the base of a write. Reads it again if an earlier read turned out to be too old. */
  draft(isFirst: boolean): Draft {
    // A read of this turn is good enough as a base: everything is compared again under the locks.
    return new Draft(this, (isFirst ? this.refs.shared() : this.refs.snapshot()).refs)
  }

  /**
   * The state that a write would see, for work that must not block other writes. `isFirst` is false after a first try during which the refs moved
   * on.
   */
  trial(isFirst = true): Trial {
    return new TrialDraft(this, (isFirst ? this.refs.shared() : this.refs.snapshot()).refs)
  }

  /** A pack that is written in this repository and adopted by a later write. */
  packBuilder(): StreamingPackWriter {
    // Marks that a server wrote here. The next start looks there for unfinished work of dead servers.
    makeFolderIn(this.fs, this.path, 'locks')
    return new StreamingPackWriter(this.fs, this.path)
  }

  /** Packs all refs into one file, after very many were made; see packRefs. */
  packRefs(): Promise<void> {
    return packRefs(this.fs, this.path)
  }

  /** Receives the pack of a push, if there is one; see IncomingObjects. */
  receive(pack: PackStream | undefined): Promise<IncomingObjects> {
    return IncomingObjects.receive(this.fs, this.path, this.objects, pack)
  }

  /**
   * Whether a server ever wrote here. If not, there is no unfinished write. The file `locks` says so; if a power cut removed it, a folder of loose
   * refs does.
   */
  wasWritten(): boolean {
    return ['locks', ...REF_FOLDERS].some((name) => this.fs.stat(`${this.path}/${name}`) !== undefined)
  }

  /** Removes unfinished work of dead processes of this host: staged packs, quarantines, locks, and temporary files of git. */
  async sweepLeftovers(): Promise<void> {
    const { fs, path } = this
    if (!mayHaveStaleFiles(fs, path)) return
    sweepStagedPacks(fs, path)
    sweepQuarantines(fs, path)
    for (const name of staleFilesOfGit(fs, path)) fs.remove(`${path}/${name}`)
    const folders = ['objects/info', ...lockFolders(fs.readDir(`${path}/refs`) ?? [])]
    const paths = [path, ...folders.map((folder) => `${path}/${folder}`)]
    await sweepDeadLocks(fs, path, paths, this.arbiter.shared?.finishFor)
  }
}

interface Entry {
  readonly job: TransactionJob<unknown>
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

interface ExclusiveJob {
  readonly work: () => Promise<void>
  readonly reject: (error: unknown) => void
}

/** The maximum number of attempts of a write if another process keeps moving its refs first. */
const ATTEMPTS = 200

/**
 * Resolves when a write has to be worked out again because another writer moved one of its refs. Throws any other error, and refuses with `locked`
 * if that keeps happening.
 */
async function untilNextAttempt(
  attempt: number,
  error: unknown,
  arbiter: Arbiter,
  what: string,
): Promise<void> {
  if (!(error instanceof RefMoved)) throw error
  if (attempt === ATTEMPTS) {
    throw new Refusal(
      'locked',
      `${what}: other writers moved the same refs ${ATTEMPTS} times in a row. Try again in a moment.`,
    )
  }
  await pause(Math.random() * Math.min(attempt, 20))
  await arbiter.elsewhere?.fresh()
}

/**
 * Runs one write over several repositories of a store, each named once. It resolves with the result once everything is on the disk: in all of them
 * or, if anything fails, in none, even if the process is killed or the power fails. `job` gets their transactions in the order of `repositories`.
 * It may run several times, as that of a single write, and must not wait for another write to any of them. The deciding refs of all repositories
 * move before the derived ones. If the disk fails after a part of the refs has moved, the error is thrown and the other refs stay locked until the
 * next start of a server, which moves them.
 */
export async function transactAcross<T>(
  repositories: readonly Repository[],
  job: (transactions: readonly Transaction[]) => Promise<T>,
): Promise<T> {
  // All writers use the same order, so two such writes never wait for each other.
  const ordered = repositories.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const arbiter = arbiterOf(ordered)
  if (!arbiter) return job([])
  const names = ordered.map(({ path }) => path).join(' and ')
  return inTurns(ordered, async () => {
    for (let attempt = 1; ; attempt++) {
      try {
        const drafts = repositories.map((repository) => ({
          repository,
          draft: repository.draft(attempt === 1),
        }))
        const result = await job(drafts.map(({ draft }) => draft))
        drafts.sort((a, b) => (a.repository.path < b.repository.path ? -1 : 1))
        await commitDrafts(arbiter, drafts)
        return result
      } catch (error) {
        await untilNextAttempt(attempt, error, arbiter, names)
      }
    }
  })
}

/** The arbiter that decides the write for all of them. */
function arbiterOf(ordered: readonly Repository[]): Arbiter | undefined {
  for (const [index, { path, arbiter }] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next?.path === path) throw new Error(`${path} is named twice in one write.`)
    if (next && next.arbiter !== arbiter)
      throw new Error(`${path} and ${next.path} are of two stores, which no write can span.`)
  }
  return ordered[0]?.arbiter
}

/** Does the work while it is the turn of the job in all of these repositories. */
function inTurns<T>(repositories: readonly Repository[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = repositories
  return first ? first.exclusive(() => inTurns(others, work)) : work()
}

/** The planned write of a repository: refs and objects on top of a base. */
class Draft implements Transaction, Drafted {
  readonly objects = new Map<Oid, PackableObject>()
  readonly packs = new Set<StagedPack>()
  notes: DecisionNote[] = []
  claims: NameClaim[] = []
  required: (() => boolean)[] = []
  needs: string[] = []
  readonly #repository: Repository
  /** Its base: the draft of the jobs before, or the stored refs. */
  readonly #base: Draft | ReadonlyMap<string, Oid>
  readonly #moved = new Map<string, string | undefined>()
  readonly #following = new Set<string>()
  /** Refs in `refs/notes`, as they were at their first read. */
  readonly #asked = new Map<string, Oid | undefined>()

  constructor(repository: Repository, base: Draft | ReadonlyMap<string, Oid>) {
    this.#repository = repository
    this.#base = base
  }

  ref(name: string): Oid | undefined {
    return this.#moved.has(name) ? this.#moved.get(name) : this.#before(name)
  }

  /** The value of the ref before this draft. */
  #before(name: string): Oid | undefined {
    if (this.#base instanceof Draft) return this.#base.ref(name)
    return name.startsWith(`${NOTES_FOLDER}/`) ? this.#storedNotes(name) : this.#base.get(name)
  }

  #storedNotes(name: string): Oid | undefined {
    if (!this.#asked.has(name)) this.#asked.set(name, this.#repository.refs.current(name))
    return this.#asked.get(name)
  }

  refs(prefix: string): ReadonlyMap<string, Oid> {
    const refs = new Map<string, Oid>()
    const base = this.#base instanceof Draft ? this.#base.refs(prefix) : this.#base
    for (const [name, target] of [...base, ...this.#moved]) {
      if (!name.startsWith(prefix)) continue
      if (target === undefined) refs.delete(name)
      else refs.set(name, target)
    }
    return refs
  }

  /** An object that is not stored in a repository yet. */
  #drafted(oid: Oid): PackableObject | undefined {
    return this.objects.get(oid) ?? (this.#base instanceof Draft ? this.#base.#drafted(oid) : undefined)
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#drafted(oid) ?? this.#repository.objects.read(oid)
  }

  async readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<(GitObject | undefined)[]> {
    const drafted = oids.map((oid) => this.#drafted(oid))
    const others = oids.filter((_, index) => !drafted[index])
    const stored = (await this.#repository.objects.readMany(others, run, enough)).values()
    const objects: (GitObject | undefined)[] = []
    for (const own of drafted) {
      const next = own ? { value: own } : stored.next()
      if (next.done) break
      objects.push(next.value)
    }
    return objects
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.objects.set(oid, { oid, kind, bytes })
    return oid
  }

  adopt(pack: StagedPack): void {
    this.packs.add(pack)
  }

  require(holds: () => boolean, repository?: string): void {
    this.required.push(holds)
    if (repository !== undefined) this.needs.push(repository)
  }

  claim(claim: NameClaim): void {
    this.claims.push(claim)
  }

  note(note: DecisionNote): void {
    this.notes.push(note)
  }

  cacheFile(name: string): CacheFile {
    return new CacheFile(this.#repository.fs, `${this.#repository.path}/${name}`)
  }

  move(ref: string, target: Oid): void {
    this.#moved.set(ref, target)
    this.#following.delete(ref)
  }

  setDerivedRef(ref: string, target: string | undefined): void {
    if (!this.#moved.has(ref)) this.#following.add(ref)
    this.#moved.set(ref, target)
  }

  removeDerivedRef(ref: string): void {
    this.setDerivedRef(ref, undefined)
  }

  /** Takes over the changes of a finished job, which was worked out on top of this draft. */
  merge(job: Draft): void {
    for (const [oid, object] of job.objects) this.objects.set(oid, object)
    for (const pack of job.packs) this.packs.add(pack)
    this.notes = [...this.notes, ...job.notes]
    this.required = [...this.required, ...job.required]
    this.claims = [...this.claims, ...job.claims]
    this.needs = [...this.needs, ...job.needs]
    for (const [ref, target] of job.#moved) {
      if (target === undefined || job.#following.has(ref)) this.setDerivedRef(ref, target)
      else this.move(ref, target)
    }
  }

  /** No moves, if the only change is to delete refs that do not exist. */
  moves(): readonly RefMove[] {
    const moveOf = ([ref, target]: readonly [string, string | undefined]): RefMove => {
      return { ref, expected: this.#before(ref), target, follows: this.#following.has(ref) }
    }
    const moves = Array.from(this.#moved, moveOf)
    return moves.some(({ expected, target }) => (expected ?? target) !== undefined) ? moves : []
  }
}

/** A draft that is never stored, and the refs on which it was worked out. */
class TrialDraft extends Draft implements Trial {
  readonly #seen = new Map<string, Oid | undefined>()

  override ref(name: string): Oid | undefined {
    const target = super.ref(name)
    if (!this.#seen.has(name)) this.#seen.set(name, target)
    return target
  }

  isStillSo(transaction: Transaction): boolean {
    for (const [name, target] of this.#seen) if (transaction.ref(name) !== target) return false
    return true
  }
}

/**
 * Has git put all refs of a repository into one file, which can be read in a fraction of the time of many files. Refs that are locked at the
 * moment stay as they are. If git fails, all do, and maintenance tries again.
 */
async function packRefs(fs: Fs, gitdir: string): Promise<void> {
  // It runs twice: loose refs are removed only after the name of a `packed-refs` that has them is on the disk.
  if ((await gitOn(gitdir, ['pack-refs', '--all', '--no-prune'])).code !== 0) return
  await fs.syncDir(gitdir)
  await gitOn(gitdir, ['pack-refs', '--all'])
}
