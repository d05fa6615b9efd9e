import { setTimeout as pause } from 'node:timers/promises'
import { Refusal } from '../../errors.ts'
import { ensuringFolder } from './durable-folder.ts'
import type { Fs } from './fs.ts'
import { isDead } from './liveness.ts'
import type { ProcessIdentity } from './process-identity.ts'
import { identityName, isBeforeBoot, parseIdentity, thisProcess } from './process-identity.ts'

/** How long to wait for a lock whose holder is alive, or is git, in milliseconds. */
export const LOCK_PATIENCE_MS = 5000

/** Ends the names of owner files that own several locks. */
const SHARED = '.shared'

const self = identityName(thisProcess())
let sequence = 0

/**
 * Owner files of locks that this process gave up but could not remove, or left on purpose because the disk failed. They are still ours, and guard
 * nothing.
 */
const abandoned = new Set<string>()

/**
 * A lock in git's protocol: the file `<something>.lock`, created exclusively, with the new content of the locked file. Git and every server
 * process respect it.
 */
export interface HeldLock {
  /** Renames the lock file to `target`. This releases the lock. The rename is on the disk only after a sync of the folder. */
  publish(target: string): void
  /**
   * Gives the lock up; the locked file stays as it was. If the disk fails, the next caller in this process who wants the lock removes it, or the
   * next start. The work under the lock is done, and must not look like a failure.
   */
  release(): void
  /** Leaves the lock to the next caller who wants it. That one first finishes the work under it (see BeforeTakeOver). */
  abandon(): void
}

/** The work to finish before a dead process's lock is taken over, given the name of its owner file. */
export type BeforeTakeOver = (dead: string) => Promise<void>

/**
 * Runs `work` while holding `<folder>/<name>.lock` against all server processes; the lock guards no file of its own. Refuses with `locked` if a
 * living process keeps it too long.
 */
export async function holdingLock<T>(
  fs: Fs,
  folder: string,
  name: string,
  work: () => Promise<T>,
  beforeTakeOver?: BeforeTakeOver,
): Promise<T> {
  const lock = await new LockFile(fs, folder, '', beforeTakeOver).acquire(`${folder}/${name}.lock`)
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** Whether `<folder>/<name>.lock` exists and its holder is not known to be dead. */
export function isLockHeld(fs: Fs, folder: string, name: string): boolean {
  const path = `${folder}/${name}.lock`
  return fs.stat(path) !== undefined && deadOwnerOf(fs, `${folder}/locks`, path) === undefined
}

/** Whether the lock on `path` belongs to this dead process. */
export function isLockOf(fs: Fs, folder: string, path: string, owner: ProcessIdentity): boolean {
  return isNameOf(owner, deadOwnerOf(fs, `${folder}/locks`, `${path}.lock`))
}

/** A name for a file of ours in `<folder>/locks`. A start removes it if we are dead. */
export function ownFile(folder: string): string {
  return `${folder}/locks/${self}.${++sequence}`
}

/**
 * The owner file of a lock: `<folder>/locks/<owner>.<n>`, with the lock's `content`, not synced. It is linked to the name of the lock later, so
 * that everybody can tell the holder of a lock by its inode. With `isShared`, it may own several locks at a time. Pass it to `acquire`, or discard
 * it.
 */
export class LockFile {
  readonly #fs: Fs
  readonly #folder: string
  readonly #owner: string
  readonly #beforeTakeOver: BeforeTakeOver | undefined
  /** The locks that are held with this file. */
  #held = 0

  constructor(fs: Fs, folder: string, content: string, beforeTakeOver?: BeforeTakeOver, isShared = false) {
    const owner = `${ownFile(folder)}${isShared ? SHARED : ''}`
    try {
      fs.create(owner, Buffer.from(content))
    } catch (error) {
      doInNewFolder(fs, owner, () => fs.create(owner, Buffer.from(content)), error)
    }
    this.#fs = fs
    this.#folder = `${folder}/locks`
    this.#owner = owner
    this.#beforeTakeOver = beforeTakeOver
  }

  /**
   * Links the owner file to `lockPath`. Waits up to five seconds for a living holder, and takes over from a dead one of this host; otherwise
   * refuses with `locked`, naming the file. Makes the folder if necessary. With a shared owner file, several locks can be held; all must be
   * acquired before the first is released.
   */
  async acquire(lockPath: string): Promise<HeldLock> {
    try {
      this.#fs.link(this.#owner, lockPath)
    } catch (error) {
      await this.#acquireAfter(error, lockPath)
    }
    this.#held++
    return {
      publish: (target) => {
        this.#fs.rename(lockPath, target)
        // The ref has moved, so a failure here must not look like a failed write. The next start removes what stays.
        if (--this.#held === 0) this.#forget(this.#owner)
      },
      release: () => this.#release(lockPath),
      abandon: () => void abandoned.add(this.#owner),
    }
  }

  /** Called after the first attempt failed: the lock is held, or its folder is missing. */
  async #acquireAfter(error: unknown, lockPath: string): Promise<void> {
    try {
      if (!this.#isLinkedAfter(error, lockPath)) await this.#linkTo(lockPath)
    } catch (again) {
      if (this.#held === 0) this.discard()
      throw again
    }
  }

  #release(lockPath: string): void {
    this.#letGo(lockPath)
    if (--this.#held === 0) this.discard()
  }

  /** Removes the owner file of a lock that is given up or was published. The next start removes what stays. */
  discard(): void {
    // Without the owner file, nobody could tell who holds the lock.
    if (!abandoned.has(this.#owner)) this.#forget(this.#owner)
  }

  /** False if the lock is still there. */
  #letGo(lockPath: string): boolean {
    try {
      this.#fs.remove(lockPath)
      return true
    } catch {
      abandoned.add(this.#owner)
      return false
    }
  }

  #forget(path: string): void {
    try {
      this.#fs.remove(path)
    } catch {
      // A start sweeps what stays.
    }
  }

  async #linkTo(lockPath: string): Promise<void> {
    const deadline = Date.now() + LOCK_PATIENCE_MS
    for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
      if (this.#tryLink(lockPath)) return
      if (await this.takeOver(lockPath)) continue
      if (Date.now() > deadline) throw stillLocked(lockPath)
      await pause(wait * (0.5 + Math.random()))
    }
  }

  #tryLink(lockPath: string): boolean {
    try {
      this.#fs.link(this.#owner, lockPath)
      return true
    } catch (error) {
      return this.#isLinkedAfter(error, lockPath)
    }
  }

  /** False if the lock is held. Makes a missing folder. */
  #isLinkedAfter(error: unknown, lockPath: string): boolean {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false // A file system throws nothing else.
    try {
      doInNewFolder(this.#fs, lockPath, () => this.#fs.link(this.#owner, lockPath), error)
      return true
    } catch (again) {
      if ((again as NodeJS.ErrnoException).code === 'EEXIST') return false
      throw again
    }
  }

  /**
   * Frees the lock of a dead owner. Only the holder of `<dead owner>.takeover` may remove it. So if two processes find the same dead lock, one
   * removes it, and neither can remove its successor. True if the caller should try again at once. With `finish`, that is done instead of removing
   * the lock; with `owner`, only a lock of that process is freed.
   */
  async takeOver(
    lockPath: string,
    { owner, finish = () => this.#fs.remove(lockPath) }: DeadLock = {},
  ): Promise<boolean> {
    const dead = deadOwnerOf(this.#fs, this.#folder, lockPath)
    if (!dead || (owner && !isNameOf(owner, dead))) return false
    await this.#beforeTakeOver?.(dead)
    const right = `${this.#folder}/${dead}.takeover`
    await this.#linkTo(right)
    let isFree = false
    try {
      if (deadOwnerOf(this.#fs, this.#folder, lockPath) === dead) finish()
      this.#forgetDead(`${this.#folder}/${dead}`)
    } finally {
      isFree = this.#letGo(right)
    }
    // The owner file tells which locks it still holds, and cannot be used for another one.
    if (!isFree) throw stillLocked(right)
    return true
  }

  /** Without the owner file, nobody could tell who holds the other locks of it. The next start removes what stays. */
  #forgetDead(owner: string): void {
    if (owner.endsWith(SHARED) && (this.#fs.stat(owner)?.links ?? 0) > 1) return
    this.#fs.remove(owner)
    abandoned.delete(owner)
  }
}

/** Repeats a failed step if it failed because the folder of its file is missing. */
function doInNewFolder(fs: Fs, path: string, step: () => void, error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  ensuringFolder(fs, path, step)
}

/** The lock of a dead process, and how to end it. */
export interface DeadLock {
  /** Any dead process's without it. */
  readonly owner?: ProcessIdentity
  /** It is removed without it. */
  readonly finish?: () => void
}

/**
 * Ends the lock on `path` if its holder is dead: removes it, or does `finish`, which ends it. Meanwhile nobody else can take it over. Other locks
 * are not touched.
 */
export async function endDeadLock(fs: Fs, folder: string, path: string, meant?: DeadLock): Promise<void> {
  const finisher = new LockFile(fs, folder, '')
  try {
    await finisher.takeOver(`${path}.lock`, meant)
  } finally {
    finisher.discard()
  }
}

/**
 * Removes what dead processes of this host left: their locks in these folders, which would block plain git for ever, and their owner files. A
 * power cut may have removed the owner file and left the lock.
 */
export async function sweepDeadLocks(
  fs: Fs,
  gitdir: string,
  folders: readonly string[],
  beforeTakeOver?: BeforeTakeOver,
): Promise<void> {
  const dead = (fs.readDir(`${gitdir}/locks`) ?? []).filter((name) => {
    const owner = parseIdentity(name)
    return owner !== undefined && isDead(owner, gitdir)
  })
  const locks = folders
    .flatMap((folder) => (fs.readDir(folder) ?? []).map((name) => `${folder}/${name}`))
    .filter((path) => path.endsWith('.lock') && deadOwnerOf(fs, `${gitdir}/locks`, path) !== undefined)
  if (locks.length > 0) {
    const sweeper = new LockFile(fs, gitdir, '', beforeTakeOver)
    try {
      for (const lock of locks) await sweeper.takeOver(lock)
    } finally {
      sweeper.discard()
    }
  }
  // Without a lock now, or linked to a ref that the owner still moved.
  for (const name of dead) fs.remove(`${gitdir}/locks/${name}`)
}

/**
 * Finds the owner file, in `folder`, of the dead process that holds a lock. If a power cut removed that file, returns a name that no process has.
 * Undefined if no process holds the lock, or if its owner may be alive.
 */
export function deadOwnerOf(fs: Fs, folder: string, lockPath: string): string | undefined {
  const lock = fs.stat(lockPath)
  if (!lock) return undefined
  const owned = fs.readDir(folder)?.find((name) => {
    if (name.endsWith('.takeover')) return false
    return fs.stat(`${folder}/${name}`)?.inode === lock.inode
  })
  if (owned === undefined) {
    // After a power cut the lock may exist without its owner file. All processes from before the machine's start are dead.
    return isBeforeBoot(lock.modified) ? `unowned.${lock.inode}` : undefined
  }
  if (abandoned.has(`${folder}/${owned}`)) return owned
  const owner = parseIdentity(owned)
  return owner !== undefined && isDead(owner, folder) ? owned : undefined
}

function isNameOf(owner: ProcessIdentity, name: string | undefined): boolean {
  return name?.startsWith(`${identityName(owner)}.`) === true
}

/** The reason why the wait for a lock ends. */
export function stillLocked(lockPath: string): Refusal {
  return new Refusal(
    'locked',
    `${lockPath} is held by another process. Try again in a moment; if no git or Branchpoint process is at work on ` +
      `this repository, somebody on another host died holding it: remove that file by hand.`,
  )
}
