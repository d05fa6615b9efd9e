import type { Fs } from '../storage/fs.ts'
import { sweepDeadLocks } from '../storage/lock-file.ts'
import { History } from './history/first-parent-history.ts'
import { staleFilesOfGit, mayHaveStaleFiles } from './maintenance/stale-files.ts'
import { ObjectDatabase } from './objects/object-database.ts'
import type { Oid } from './objects/object.ts'
import type { PackCache } from './packs/pack-cache.ts'
import { StreamingPackWriter } from './packs/streaming-pack-writer.ts'
import type { PackStream } from './receive/index-pack.ts'
import { IncomingObjects } from './receive/incoming-objects.ts'
import { sweepQuarantines } from './receive/quarantine.ts'
import { type RefSnapshot, type SavedRefs, RefReader, REF_FOLDERS, lockFolders } from './refs/ref-store.ts'
import type { Arbiter } from './transactions/arbiter.ts'
import { sweepStagedPacks } from './packs/pack-writer.ts'
import type { TransactionJob, Trial } from './transactions/transaction.ts'
import { WriteQueue } from './transactions/write-queue.ts'
import { makeFolderIn } from './trash/gone.ts'
import { gitOn } from './process/git-process.ts'

/**
 * One bare git repository: the whole of what the rooms above know of git's disk. Reads see what any git did to it; writes
 * go through one queue and git's own locks.
 */
export class Repository {
  readonly fs: Fs
  readonly path: string
  readonly objects: ObjectDatabase
  readonly #refs: RefReader
  readonly #arbiter: Arbiter
  /** Made when they are asked for: of very many repositories most are only listed. */
  #history: History | undefined
  #writer: WriteQueue | undefined

  /** `saved` is what `saveRefs` of another object for the same repository answered. */
  constructor(fs: Fs, path: string, packs: PackCache, arbiter: Arbiter, saved?: SavedRefs) {
    this.fs = fs
    this.path = path
    this.objects = new ObjectDatabase(fs, path, packs)
    this.#refs = new RefReader(fs, path, saved)
    this.#arbiter = arbiter
  }

  get history(): History {
    return (this.#history ??= new History(this.fs, this.path, this.objects))
  }

  /** The queue of its writes, for those that write to other repositories as well (see transactAcross). */
  get writer(): WriteQueue {
    const { fs, path: gitdir, objects } = this
    return (this.#writer ??= new WriteQueue({ fs, gitdir, objects, refs: this.#refs }, this.#arbiter))
  }

  /** The refs as they are now; the same object as long as nothing moved. Requests that came in together share the look. */
  refs(): RefSnapshot {
    return this.#refs.shared()
  }

  /** The refs as they are now, looked at afresh: for who has just moved one. */
  freshRefs(): RefSnapshot {
    return this.#refs.snapshot()
  }

  /** The refs after our own last write, or as they were last looked at: for who shows what was just written. */
  writtenRefs(): RefSnapshot {
    return this.#refs.latest
  }

  /** What is seen of the refs now, for the next process to begin with; undefined while they were moved just now. */
  saveRefs(): SavedRefs | undefined {
    return this.#refs.save()
  }

  /** One ref as it is now, looked at afresh; one of those in `refs/notes`, too, which no look at all refs covers. */
  currentRef(name: string): Oid | undefined {
    return this.#refs.current(name)
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
   * What a write would see and do now, for work that is to hold up no other write. `isFirst` is false where it was tried before and the
   * refs had moved on.
   */
  trial(isFirst = true): Trial {
    return this.writer.trial(isFirst)
  }

  /** Runs a write; see WriteQueue. */
  transact<T>(job: TransactionJob<T>): Promise<T> {
    return this.writer.run(job)
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
    await sweepDeadLocks(fs, path, paths, this.#arbiter.shared?.finishFor)
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
