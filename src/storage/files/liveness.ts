import { execFile } from 'node:child_process'
import { readFileSync, realpathSync, statfsSync, utimesSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path/posix'
import { CannotStart, Refusal } from '../../errors.ts'
import type { FileLock } from '../sqlite/file-lock.ts'
import { ensuringFolder } from './durable-folder.ts'
import type { FileStat, Fs } from './fs.ts'
import { nodeFs } from './node-fs.ts'
import {
  identityName,
  isGoneByNumber,
  isOfThisMachine,
  isSeenRunning,
  parseIdentity,
  type ProcessIdentity,
  thisProcess,
} from './process-identity.ts'

/** In a store: a file for each process that serves it or writes to it, named by the process, which keeps it locked. */
const SERVERS_FOLDER = '.servers'

/** A process touches its file so often, for servers of other machines, which may not see its lock. */
const MS_BETWEEN_SIGNS = 10_000

const MAX_SILENCE_MS = 60_000

/** How long a process that asks whether we live may have our file locked. */
const LOCK_WAIT_MS = 1000

/** A process that asks removes a file that is not locked yet: then the next one is made. */
const ATTEMPTS = 10

/** Of these, every process that can open a file is on this machine, and the kernel keeps its locks. Any other is tried. */
const LOCAL = 'bcachefs btrfs ext2 ext3 ext4 f2fs jfs overlay tmpfs xfs zfs'.split(' ')

/** Tells the other processes that use the same store that this process is alive. */
export interface Liveness {
  /** Why nothing can be written to the store now, in a sentence. */
  readonly problem?: string | undefined
  /** Locks another file of the same name if the locked one is gone: for a store that is back. */
  renew(): void
  /** To be called once, when nothing is written any more. */
  release(): void
}

type FileLocks = typeof import('../sqlite/file-lock.ts')

/** The stores that this process uses, by their folders as they were named. */
const used = new Map<string, StoreLiveness>()

/**
 * Announces this process in a store: it locks a file of its own there, until `release` or its end. Call it before anything is written under the
 * process's name. Refuses with `storage_unavailable`, naming the file system, if that does not keep locks. Does nothing for a store that only
 * this process sees.
 */
export async function announceProcess(fs: Fs, storeDir: string): Promise<Liveness> {
  const folder = nodeFs.stat(storeDir)
  if (!fs.isSeenByOthers || !folder || !isSame(fs.stat(storeDir), folder)) return NOT_NEEDED
  // Loaded only here, because many commands need no store.
  const locks = await import('../sqlite/file-lock.ts')
  let liveness = [...used.values()].find((it) => isSame(it.folder, folder))
  if (liveness) liveness.hold()
  else liveness = new StoreLiveness(storeDir, folder, locks)
  used.set(storeDir, liveness)
  try {
    await liveness.ready
    return liveness
  } catch (error) {
    liveness.release()
    throw error
  }
}

const NOT_NEEDED: Liveness = { renew: () => undefined, release: () => undefined }

/**
 * Whether the owner of a file in a store is known to be dead; `path` is any path in the store. Nobody is known to be dead in a store where this
 * process is not announced, unless its number tells, as for owners that an earlier version named.
 */
export function isDead(owner: ProcessIdentity, path: string): boolean {
  const liveness = owner.id === undefined ? undefined : livenessAt(path)
  return liveness ? liveness.isDead(owner) : isGoneByNumber(owner)
}

/** Whether the owner is known to be dead and ran since the machine last started. */
export function isDeadSinceBoot(owner: ProcessIdentity, path: string): boolean {
  return owner.boot === thisProcess().boot && isDead(owner, path)
}

function livenessAt(path: string): StoreLiveness | undefined {
  for (const [dir, liveness] of used) if (path === dir || path.startsWith(`${dir}/`)) return liveness
  return undefined
}

/**
 * Throws CannotStart, with the host, if a server on another machine uses the store. SQLite files are shared through memory, so each server
 * would see the other's writes as damage. Containers of one machine count as one.
 */
export async function refuseOtherMachines(fs: Fs, storeDir: string): Promise<void> {
  const isElsewhere = ({ path, owner }: Announced): boolean => !isOfThisMachine(owner) && !isSilent(path)
  if (!fs.isSeenByOthers || !announced(storeDir).some(isElsewhere)) return
  // Where the file system is of this machine alone, locks tell that they have died.
  const liveness = await announceProcess(fs, storeDir)
  const found = announced(storeDir).find((it) => isElsewhere(it) && !isDead(it.owner, storeDir))
  liveness.release()
  if (found)
    throw new CannotStart(
      `A server on the host ${found.owner.host} (process ${found.owner.pid}) runs over the store ${storeDir}, and all servers of a store have to ` +
        `run on one host. Stop it there; if it has died, start again ${MAX_SILENCE_MS / 1000} seconds later, or remove ${found.path} now.`,
    )
}

interface Announced {
  readonly path: string
  readonly owner: ProcessIdentity
}

function announced(storeDir: string): Announced[] {
  const folder = `${storeDir}/${SERVERS_FOLDER}`
  return (nodeFs.readDir(folder) ?? []).flatMap((name) => {
    const owner = parseIdentity(name)
    return owner ? [{ path: `${folder}/${name}`, owner }] : []
  })
}

function isSilent(path: string): boolean {
  return Date.now() - (nodeFs.stat(path)?.modified ?? 0) > MAX_SILENCE_MS
}

class StoreLiveness implements Liveness {
  /** The store's folder. */
  readonly folder: FileStat
  /** Resolves once the file system is known to keep the lock. */
  readonly ready: Promise<void>
  readonly #storeDir: string
  readonly #path: string
  readonly #locks: FileLocks
  readonly #fileSystem: FileSystem
  readonly #timer: NodeJS.Timeout
  /** The names of processes that were found dead. */
  readonly #dead = new Set<string>()
  #holders = 1
  #lock: FileLock | undefined
  #locked: FileStat | undefined
  /** From then on (milliseconds since 1970), a file that is missing tells that its owner is dead. */
  #isSureFrom = 0
  problem: string | undefined

  constructor(storeDir: string, folder: FileStat, locks: FileLocks) {
    this.folder = folder
    this.#storeDir = storeDir
    this.#path = `${storeDir}/${SERVERS_FOLDER}/${identityName(thisProcess())}`
    this.#locks = locks
    this.#fileSystem = fileSystemOf(storeDir)
    this.#timer = setInterval(() => this.#giveSign(), MS_BETWEEN_SIGNS).unref()
    this.ready = this.#begin()
  }

  hold(): void {
    this.renew()
    this.#holders++
  }

  renew(): void {
    if (this.#isLocked()) return
    this.#lockUnlessReadOnly()
    // All files may have been removed: then the others make theirs again, too.
    this.#isSureFrom = Date.now() + 3 * MS_BETWEEN_SIGNS
  }

  release(): void {
    if (--this.#holders > 0) return
    clearInterval(this.#timer)
    for (const [dir, liveness] of used) if (liveness === this) used.delete(dir)
    unlessFailing(() => {
      if (this.#isLocked()) nodeFs.remove(this.#path)
      nodeFs.removeFolder(dirname(this.#path))
    })
    this.#lock?.release()
  }

  isDead(owner: ProcessIdentity): boolean {
    const name = identityName(owner)
    if (name === identityName(thisProcess())) return false
    // A start may find the file before its maker has locked it, and remove it: the maker then makes it again, under the same name.
    let isDead = this.#dead.has(name) && !nodeFs.stat(`${this.#storeDir}/${SERVERS_FOLDER}/${name}`)
    if (!isDead) unlessFailing(() => (isDead = this.#isFoundDead(name, owner)))
    if (isDead) this.#dead.add(name)
    return isDead
  }

  /** Removes the file of a dead process. Throws where it cannot be told. */
  #isFoundDead(name: string, owner: ProcessIdentity): boolean {
    const path = `${this.#storeDir}/${SERVERS_FOLDER}/${name}`
    if (!nodeFs.stat(path)) return this.#isLocked() && Date.now() >= this.#isSureFrom && !isSeenRunning(owner)
    // The lock of another machine may not be seen here.
    if (!this.#fileSystem.isLocal && !isOfThisMachine(owner) && !isSilent(path)) return false
    const lock = this.#locks.lockTogether(path)
    if (!lock) return false
    try {
      // A process that has only just made it waits for its lock, and then finds that it is gone.
      nodeFs.remove(path)
    } finally {
      lock.release()
    }
    return true
  }

  async #begin(): Promise<void> {
    this.problem = isFull(this.#storeDir)
      ? `The disk of the store ${this.#storeDir} is full: nothing can be written until there is room on it.`
      : undefined
    this.#lockUnlessReadOnly()
    if (this.#lock && !this.#fileSystem.isLocal)
      await refuseBrokenLocks(this.#path, this.#storeDir, this.#fileSystem)
    for (const { path, owner } of announced(this.#storeDir))
      unlessFailing(() => {
        if (owner.id !== undefined) this.isDead(owner)
        else if (isSilent(path) || isGoneByNumber(owner)) nodeFs.remove(path)
      })
  }

  /** Where nothing can be written, nothing bears our name. */
  #lockUnlessReadOnly(): void {
    try {
      this.#lockFile()
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error // a file system throws nothing else
      this.problem = `The store ${this.#storeDir} is mounted read-only: it is served, and nothing can be written to it.`
    }
  }

  #lockFile(): void {
    for (let attempt = 1; !this.#isLocked(); attempt++) {
      if (attempt > ATTEMPTS)
        throw withoutLocks(this.#storeDir, this.#fileSystem, `${this.#path} vanishes again and again`)
      makeFile(this.#path)
      this.#lock?.release()
      try {
        this.#lock = this.#locks.lockAlone(this.#path, LOCK_WAIT_MS)
      } catch (error) {
        throw withoutLocks(this.#storeDir, this.#fileSystem, (error as Error).message)
      }
      this.#locked = nodeFs.stat(this.#path)
    }
  }

  /** Whether the file in the store is the locked one. */
  #isLocked(): boolean {
    return this.#locked !== undefined && isSame(nodeFs.stat(this.#path), this.#locked)
  }

  /** Makes nothing where a store was: see StoreGuard. */
  #giveSign(): void {
    unlessFailing(() => {
      if (!nodeFs.stat(`${this.#storeDir}/format`)) return
      this.renew()
      utimesSync(this.#path, new Date(), new Date())
    })
  }
}

function isFull(folder: string): boolean {
  let room = 1
  unlessFailing(() => (room = statfsSync(folder).bavail))
  return room === 0
}

/** Makes the file, and its folder. Every user of the machine may open the file, because that is how another process asks whether this one lives. */
function makeFile(path: string): void {
  try {
    ensuringFolder(nodeFs, path, () => nodeFs.create(path, Buffer.alloc(0)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error // a file system throws nothing else
  }
}

function isSame(one: FileStat | undefined, other: FileStat): boolean {
  return one?.inode === other.inode && one.device === other.device
}

/** Ignores errors of the disk, because reads may still work. */
function unlessFailing(work: () => void): void {
  try {
    work()
  } catch {
    // See above.
  }
}

interface FileSystem {
  /** How messages name it. */
  readonly name: string
  readonly isLocal: boolean
}

/** The file system on which a folder lies, by the kernel's list of mounts (proc(5), mountinfo). */
function fileSystemOf(folder: string): FileSystem {
  let found = { at: '', type: '' }
  unlessFailing(() => {
    const place = `${realpathSync(folder)}/`
    for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
      const [, quoted = '', type = ''] = /^(?:\S+ ){4}(\S+) .* - (\S+)/.exec(line) ?? []
      const at = quoted.replaceAll(/\\([0-7]{3})/g, (_, code: string) =>
        String.fromCharCode(parseInt(code, 8)),
      )
      const isAbove = at !== '' && place.startsWith(at.endsWith('/') ? at : `${at}/`)
      // A later one covers an earlier one.
      if (isAbove && at.length >= found.at.length) found = { at, type }
    }
  })
  const { at, type } = found
  return {
    name: type === '' ? 'its file system' : `the file system ${type} at ${at}`,
    isLocal: LOCAL.includes(type),
  }
}

/** Refuses with `storage_unavailable` if a second process can lock the file, which this one has locked. */
async function refuseBrokenLocks(path: string, storeDir: string, fileSystem: FileSystem): Promise<void> {
  const args = ['-e', SECOND_PROCESS, createRequire(import.meta.url).resolve('libsql'), path]
  const problem = await new Promise<string | undefined>((resolve) => {
    execFile(process.execPath, args, (error, _, complaint) => {
      if (!error) resolve(undefined)
      else if (error.code === GOT_IT) resolve('two processes can lock the same file')
      else resolve(`a second process could not try it: ${complaint.trim() || error.message}`)
    })
  })
  if (problem !== undefined) throw withoutLocks(storeDir, fileSystem, problem)
}

const GOT_IT = 3

const SECOND_PROCESS = `
  const Database = require(process.argv[1])
  try {
    new Database(process.argv[2]).exec('BEGIN EXCLUSIVE')
  } catch (error) {
    if (/^SQLITE_(BUSY|LOCKED)/.test(error.code)) process.exit(0)
    throw error
  }
  process.exit(${GOT_IT})`

function withoutLocks(storeDir: string, { name }: FileSystem, problem: string): Refusal {
  return new Refusal(
    'storage_unavailable',
    `The store ${storeDir} cannot be used on ${name}: it does not keep locks (${problem}), by which servers tell whether another one lives. ` +
      `Set STORE_DIR to a folder on a local disk (ext4, xfs).`,
  )
}
