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

/** The jobs of a batch share one pack and one move of their refs. */
const MAX_JOBS_PER_BATCH = 64

/**
 * One bare git repository: the whole of what the rooms above know of git's disk. Reads see what any git did to it. Writes go by git's own
 * locks, and through one queue: jobs take turns; those that wait together are worked out one after the other, each on top of the last, and
 * reach the disk together: objects as one pack, then the refs. A job that throws stores nothing and disturbs no other. Where the database
 * that decides is away, all who wait are refused with the first one: each of them would wait as long as it did.
 */
export class Repository {
  readonly fs: Fs
  readonly path: string
  readonly objects: ObjectDatabase
  readonly refs: RefReader
  readonly arbiter: Arbiter
  /** Made when it is asked for: of very many repositories most are only listed. */
  #history: History | undefined
  #queue: (Entry | ExclusiveJob)[] = []
  #isWriting = false

  /** `saved` is what `refs.save` of another object for the same repository answered. */
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

  /** Runs a write, and resolves with what the job answers once everything it stored is on the disk. */
  transact<T>(job: TransactionJob<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = (result: unknown): void => {
        counts.writes++
        resolve(result as T) // the queue holds jobs of every result type; this is what its own job answered
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
        await this.#runAlone(taken[0] as ExclusiveJob) // the first one is no entry
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
   * Works out the jobs of a batch, each on top of those before it, and stores them as one write. What the first one drafts is the batch's draft;
   * that of a job that throws is dropped. Puts back in the queue the jobs that have to wait for the next batch.
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
          // What lies in a staged pack can be read once it is published, so nothing is worked out on top of it before.
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

  /** Refuses a batch that cannot be stored together; `next` are others that have left the queue already. */
  async #refuse(batch: Entry[], next: Entry[], error: unknown): Promise<void> {
    if (batch.length > 1 && error instanceof Refusal && error.code === 'slug_taken') {
      // One of them asked for a ref that cannot be; on their own, the others go through.
      for (let entry = batch.shift(); entry; entry = batch.shift()) {
        const alone = [entry]
        await this.#runTogether(alone).catch((its: unknown) => this.#refuse(alone, batch, its))
      }
    } else {
      for (const entry of batch) entry.reject(error)
      this.#refuseBehind(error, next)
    }
  }

  /** Refuses all who wait where it took seconds to find that nothing can be decided. */
  #refuseBehind(error: unknown, next: Entry[]): void {
    if (!(error instanceof DatabaseAway)) return
    counts.waitingWrites -= this.#queue.length
    for (const { reject } of [...next.splice(0), ...this.#queue.splice(0)]) reject(error.behind())
  }

  /** What is stored now, to work a write out on; looked at afresh if an earlier look turned out to be too old. */
  draft(isFirst: boolean): Draft {
    // Seen in this turn is good enough to begin with: under the locks everything is compared afresh.
    return new Draft(this, (isFirst ? this.refs.shared() : this.refs.snapshot()).refs)
  }

  /**
   * What a write would see and do now, for work that is to hold up no other write. `isFirst` is false where it was tried before and the
   * refs had moved on.
   */
  trial(isFirst = true): Trial {
    return new TrialDraft(this, (isFirst ? this.refs.shared() : this.refs.snapshot()).refs)
  }

  /** A pack to be written in this repository, for a write to adopt. */
  packBuilder(): StreamingPackWriter {
    // The sign that a server wrote here: what a dead one leaves is looked for at the next start.
    makeFolderIn(this.fs, this.path, 'locks')
    return new StreamingPackWriter(this.fs, this.path)
  }

  /** Makes one file of all refs, for who has just made very many; see packRefs. */
  packRefs(): Promise<void> {
    return packRefs(this.fs, this.path)
  }

  /** Receives the pack of a push, if it brings one; see IncomingObjects. */
  receive(pack: PackStream | undefined): Promise<IncomingObjects> {
    return IncomingObjects.receive(this.fs, this.path, this.objects, pack)
  }

  /**
   * Whether a server ever wrote to it here; if not, nobody can have left a write unfinished. `locks` says so; where a power cut took
   * that, a folder of loose refs.
   */
  wasWritten(): boolean {
    return ['locks', ...REF_FOLDERS].some((name) => this.fs.stat(`${this.path}/${name}`) !== undefined)
  }

  /** Removes what dead processes of this host left unfinished: staged packs, quarantines, locks, what git was writing. */
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

/** How often a write is worked out anew because another process moved a ref first. */
const ATTEMPTS = 200

/**
 * Resolves when a write is to be worked out anew, since another writer moved a ref of it meanwhile. Throws any other error, and refuses with
 * `locked` if that never ends.
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
 * Runs one write over several repositories of a store, each named once, and resolves with its result once everything it stored
 * is on the disk: in all of them or, when anything fails, in none, also when the process is killed or the power fails. `job` gets
 * their transactions in the order of `repositories`, and may run again as that of a single write may; it must not wait for
 * another write to any of them. All refs that decide move before those that follow. If the disk fails when a part of the refs
 * has moved already, the error is thrown and the others stay locked until a server is started again, which moves them.
 */
export async function transactAcross<T>(
  repositories: readonly Repository[],
  job: (transactions: readonly Transaction[]) => Promise<T>,
): Promise<T> {
  // The same order for all writers, so that two such writes never wait for each other.
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

/** Who decides the write of all of them. */
function arbiterOf(ordered: readonly Repository[]): Arbiter | undefined {
  for (const [index, { path, arbiter }] of ordered.entries()) {
    const next = ordered[index + 1]
    if (next?.path === path) throw new Error(`${path} is named twice in one write.`)
    if (next && next.arbiter !== arbiter)
      throw new Error(`${path} and ${next.path} are of two stores, which no write can span.`)
  }
  return ordered[0]?.arbiter
}

/** Does the work in the turns of all of these. */
function inTurns<T>(repositories: readonly Repository[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = repositories
  return first ? first.exclusive(() => inTurns(others, work)) : work()
}

/** What is to be written to a repository: refs and objects on top of a base. */
class Draft implements Transaction, Drafted {
  readonly objects = new Map<Oid, PackableObject>()
  readonly packs = new Set<StagedPack>()
  notes: DecisionNote[] = []
  claims: NameClaim[] = []
  required: (() => boolean)[] = []
  needs: string[] = []
  readonly #repository: Repository
  /** What this is worked out on: the draft of the jobs before, or the refs that are stored. */
  readonly #base: Draft | ReadonlyMap<string, Oid>
  readonly #moved = new Map<string, string | undefined>()
  readonly #following = new Set<string>()
  /** Refs in `refs/notes`, as they were when they were asked for first. */
  readonly #asked = new Map<string, Oid | undefined>()

  constructor(repository: Repository, base: Draft | ReadonlyMap<string, Oid>) {
    this.#repository = repository
    this.#base = base
  }

  ref(name: string): Oid | undefined {
    return this.#moved.has(name) ? this.#moved.get(name) : this.#before(name)
  }

  /** What the ref was before this draft. */
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

  /** An object that is in no repository yet. */
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

  /** Takes over what a finished job did, which was worked out on top of this. */
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

  /** None if all that was asked for is to delete what is not there. */
  moves(): readonly RefMove[] {
    const moveOf = ([ref, target]: readonly [string, string | undefined]): RefMove => {
      return { ref, expected: this.#before(ref), target, follows: this.#following.has(ref) }
    }
    const moves = Array.from(this.#moved, moveOf)
    return moves.some(({ expected, target }) => (expected ?? target) !== undefined) ? moves : []
  }
}

/** A draft that nobody will store, and which refs it was worked out on. */
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
 * Has git put all refs of a repository into one file, which is read in a fraction of the time that a file each takes. What somebody locks
 * just now stays as it is; so does everything if git fails, and upkeep tries again.
 */
async function packRefs(fs: Fs, gitdir: string): Promise<void> {
  // Twice: no loose ref goes before the name of a `packed-refs` that has it is on the disk.
  if ((await gitOn(gitdir, ['pack-refs', '--all', '--no-prune'])).code !== 0) return
  await fs.syncDir(gitdir)
  await gitOn(gitdir, ['pack-refs', '--all'])
}
