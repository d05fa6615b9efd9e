import type { Fs } from '../../storage/fs.ts'
import type { BeforeTakeOver, HeldLock } from '../../storage/lock-file.ts'
import { LockFile } from '../../storage/lock-file.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import type { StagedPackedRefs } from './packed-refs.ts'
import { rewritePackedRefs } from './packed-refs.ts'
import { assertRef, refPath } from './ref-store.ts'
import type { RefMove } from './ref-move.ts'

/** From so many refs on their locks share owner files. */
const MANY = 64

/** The locks on refs of one repository that are about to move. */
export class RefLocks {
  readonly #fs: Fs
  readonly #gitdir: string
  readonly #beforeTakeOver: BeforeTakeOver | undefined
  readonly #moves: readonly RefMove[]
  /** Those that shall be deleted. */
  readonly removals: readonly RefMove[]
  readonly #prepared: LockFile[] = []
  /** By what the lock files hold. */
  readonly #shared = new Map<string, LockFile>()
  readonly #held = new Map<RefMove, HeldLock>()
  #packedLock: HeldLock | undefined
  #packed: StagedPackedRefs | undefined
  #isPackedPublished = false
  /** Whether any of the refs has moved. */
  hasMoved = false

  constructor(fs: Fs, gitdir: string, moves: readonly RefMove[], beforeTakeOver?: BeforeTakeOver) {
    this.#fs = fs
    this.#gitdir = gitdir
    this.#beforeTakeOver = beforeTakeOver
    // In the order of names, so that two writers never wait for each other.
    this.#moves = [...moves].sort((a, b) => (a.ref < b.ref ? -1 : 1))
    this.removals = this.#moves.filter(({ target }) => target === undefined)
  }

  /** Takes every lock; refs that shall go need that of `packed-refs` as well, which git takes after theirs, too. */
  async take(): Promise<void> {
    for (const { ref, target } of this.#moves) if (target !== undefined) assertRef(ref, target)
    await new TimeSlice().each(this.#moves, async (move) => this.#held.set(move, await this.#lock(move)))
    if (this.removals.length > 0) await this.#takePacked()
  }

  async #takePacked(): Promise<void> {
    this.#packedLock = await this.#prepare('').acquire(`${this.#gitdir}/packed-refs.lock`)
    const names = this.removals.map(({ ref }) => ref)
    this.#packed = await rewritePackedRefs(this.#fs, this.#gitdir, names)
  }

  /** Moves those refs to their targets that `isMeant` says. */
  async set(isMeant: (move: RefMove) => boolean): Promise<void> {
    await new TimeSlice().each(this.#moves, (move) => {
      if (move.target === undefined || !isMeant(move)) return
      this.#held.get(move)?.publish(refPath(this.#gitdir, move.ref))
      this.#held.delete(move)
      this.hasMoved = true
    })
  }

  /**
   * Deletes the refs that shall go: their packed lines first and on the disk, so that neither anyone who looks now nor a power
   * cut ever uncovers an older value behind a loose file. `packed-refs` stays locked until the loose files are gone, or a
   * `git pack-refs` might pack them again. May be called again where the disk failed.
   */
  async removeRefs(): Promise<void> {
    if (this.#packed) {
      if (!this.#isPackedPublished) this.#packed.publish()
      this.#isPackedPublished = true
      this.hasMoved = true
      await this.#fs.syncDir(this.#gitdir)
      this.#packed = undefined
    }
    for (const move of this.removals) {
      const path = refPath(this.#gitdir, move.ref)
      if (move.expected !== undefined && this.#fs.stat(path)?.kind === 'file') {
        this.#fs.remove(path)
        this.hasMoved = true
      }
      letGo(this.#held.get(move))
      this.#held.delete(move)
    }
    letGo(this.#packedLock)
    this.#packedLock = undefined
  }

  /** Leaves what is held still to whoever wants it next, who finishes the write first. */
  abandon(): void {
    for (const lock of this.#held.values()) lock.abandon()
    this.#packedLock?.abandon()
  }

  /** Gives up what is held still. */
  release(): void {
    for (const lock of this.#held.values()) lock.release()
    this.#packedLock?.release()
    this.#packed?.discard()
    for (const lock of this.#prepared) lock.discard()
  }

  #lock({ ref, target }: RefMove): Promise<HeldLock> {
    const content = target === undefined ? '' : `${target}\n`
    const path = `${refPath(this.#gitdir, ref)}.lock`
    return this.#moves.length < MANY ? this.#prepare(content).acquire(path) : this.#lockShared(path, content)
  }

  /** Very many refs that move to one commit share the owner file of their locks: making files takes long, links do not. */
  async #lockShared(path: string, content: string): Promise<HeldLock> {
    const shared = this.#shared.get(content) ?? this.#share(content)
    try {
      return await shared.acquire(path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EMLINK') throw error // a file system throws nothing else
      return this.#share(content).acquire(path)
    }
  }

  #share(content: string): LockFile {
    const lock = this.#prepare(content, true)
    this.#shared.set(content, lock)
    return lock
  }

  #prepare(content: string, isShared = false): LockFile {
    const lock = new LockFile(this.#fs, this.#gitdir, content, this.#beforeTakeOver, isShared)
    this.#prepared.push(lock)
    return lock
  }
}

/** The ref is gone: nothing from here on must look like a failure. A start sweeps what stays. */
function letGo(lock: HeldLock | undefined): void {
  try {
    lock?.release()
  } catch {
    // See above.
  }
}
