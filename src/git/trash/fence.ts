import { setTimeout as pause } from 'node:timers/promises'
import {
  type Fs,
  type BeforeTakeOver,
  deadOwnerOf,
  endDeadLock,
  holdingLock,
  LOCK_PATIENCE_MS,
  stillLocked,
  sweepDeadLocks,
} from '../../storage/files.ts'

/**
 * A fence keeps every server from writing to a repository: the lock `<gitdir>/fence.lock`. Locks on refs cannot do that, because a new ref
 * has no lock yet. A writer takes its locks and then looks for a fence; a fencing process puts up the fence and then looks for locks. So at
 * least one of them sees the other.
 */
export const FENCE = 'fence'

const fenceOf = (gitdir: string): string => `${gitdir}/${FENCE}.lock`

/** Whether the repository is fenced: no server may write to it. */
function isFenced(fs: Fs, gitdir: string): boolean {
  return fs.stat(fenceOf(gitdir)) !== undefined
}

/**
 * Resolves once the repository has no fence: it was removed, or the repository is gone. Removes the fence of a dead process, after its
 * decided writes are published. Refuses with `locked` if a live process keeps it too long.
 */
export async function untilUnfenced(fs: Fs, gitdir: string, beforeTakeOver?: BeforeTakeOver): Promise<void> {
  const deadline = Date.now() + LOCK_PATIENCE_MS
  for (let wait = 1; isFenced(fs, gitdir); wait = Math.min(wait * 2, 50)) {
    const dead = deadOwnerOf(fs, `${gitdir}/locks`, fenceOf(gitdir))
    if (dead !== undefined) {
      await beforeTakeOver?.(dead)
      if (isFenced(fs, gitdir)) await endDeadLock(fs, gitdir, `${gitdir}/${FENCE}`)
      continue
    }
    if (Date.now() > deadline) throw stillLocked(fenceOf(gitdir))
    await pause(wait * (0.5 + Math.random()))
  }
}

/**
 * Runs `work` while no server, this one included, writes to any of these repositories. Running writes end first, and the decided writes of
 * dead processes are published before.
 */
export async function fencing<T>(
  fs: Fs,
  gitdirs: readonly string[],
  beforeTakeOver: BeforeTakeOver | undefined,
  work: () => Promise<T>,
): Promise<T> {
  // One order for all processes, so that they never wait for each other.
  const [gitdir, ...others] = [...gitdirs].sort()
  if (gitdir === undefined) return work()
  const inside = async (): Promise<T> => {
    await untilUnlocked(fs, gitdir, beforeTakeOver)
    return fencing(fs, others, beforeTakeOver, work)
  }
  return holdingLock(fs, gitdir, FENCE, inside, beforeTakeOver)
}

/** Removes the fence and the owner files of locks from a folder that was moved while it was fenced. */
export function dropFence(fs: Fs, gitdir: string): void {
  try {
    fs.remove(fenceOf(gitdir))
    fs.removeTree(`${gitdir}/locks`)
  } catch {
    // Nothing writes there, and a later writer may take the fence over from its owner, or from the owner's heirs.
  }
}

/** Resolves once none of the refs is locked. Later locks belong to writers that see the fence. */
async function untilUnlocked(fs: Fs, gitdir: string, beforeTakeOver?: BeforeTakeOver): Promise<void> {
  const deadline = Date.now() + LOCK_PATIENCE_MS
  for (let wait = 1; ; wait = Math.min(wait * 2, 50)) {
    const folders = [gitdir, ...foldersBelow(fs, `${gitdir}/refs`)]
    const [lock] = folders.flatMap((folder) => locksIn(fs, gitdir, folder))
    if (lock === undefined) return
    await sweepDeadLocks(fs, gitdir, folders, beforeTakeOver)
    if (Date.now() > deadline) throw stillLocked(lock)
    await pause(wait * (0.5 + Math.random()))
  }
}

function foldersBelow(fs: Fs, folder: string): string[] {
  if (fs.stat(folder)?.kind !== 'folder') return []
  const names = fs.readDir(folder) ?? []
  return [folder, ...names.flatMap((name) => foldersBelow(fs, `${folder}/${name}`))]
}

function locksIn(fs: Fs, gitdir: string, folder: string): string[] {
  const names = (fs.readDir(folder) ?? []).filter((name) => name.endsWith('.lock'))
  return names
    .filter((name) => folder !== gitdir || TOP_LOCKS.includes(name))
    .map((name) => `${folder}/${name}`)
}

/** The locks on refs in the repository's own folder. */
const TOP_LOCKS: readonly string[] = ['HEAD.lock', 'packed-refs.lock']
