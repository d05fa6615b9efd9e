import { dirname } from 'node:path/posix'
import type { Fs } from './fs.ts'
import { prepareLock } from './lock.ts'
import type { HeldLock, PreparedLock } from './lock.ts'
import type { Oid } from './object.ts'
import type { RefReader } from './refs.ts'

/** A ref to move, with git's compare-and-set precondition. */
export interface RefMove {
  /** A full name (`refs/heads/main`), or `HEAD` to point it at a branch. */
  readonly ref: string
  /** What it must hold now; undefined means "must not exist". HEAD is not compared. */
  readonly expected: Oid | undefined
  /** An object id, or for HEAD `ref: refs/heads/<branch>`. */
  readonly target: string
  /** False for the operation's ref of truth; true for a ref that follows from it, moved once the truth is on the disk. */
  readonly follows: boolean
}

/** Thrown when a ref no longer holds what the mover expected: nothing was moved, work it out again. */
export class RefMoved extends Error {
  override readonly name = 'RefMoved'
}

/**
 * Moves refs by git's lock protocol: takes every lock, compares, has `decide` put the write on the disk (all or nothing),
 * and renames the locks into place. Throws RefMoved, or what `decide` threw, having moved nothing.
 */
export async function moveRefs(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
  decide: () => Promise<void>,
): Promise<void> {
  // In the order of names, so that two writers never wait for each other.
  const sorted = [...moves].sort((a, b) => (a.ref < b.ref ? -1 : 1))
  const locks: PreparedLock[] = []
  const held = new Map<RefMove, HeldLock>()
  try {
    for (const move of sorted) {
      makeFolder(fs, dirname(`${gitdir}/${move.ref}`))
      const lock = prepareLock(fs, gitdir, `${move.target}\n`)
      locks.push(lock)
      held.set(move, await lock.acquire(`${gitdir}/${move.ref}.lock`))
    }
    const now = refs.snapshot().refs
    for (const { ref, expected } of sorted) {
      if (ref !== 'HEAD' && now.get(ref) !== expected) throw new RefMoved(`${ref} moved meanwhile`)
    }
    await decide()
    // The ref of truth first: whoever sees a ref that follows from it sees it, too.
    for (const move of [...sorted].sort((a, b) => Number(a.follows) - Number(b.follows))) {
      held.get(move)?.publish(`${gitdir}/${move.ref}`)
      held.delete(move)
    }
  } catch (error) {
    for (const lock of held.values()) lock.release()
    for (const lock of locks) lock.discard()
    throw error
  }
}

function makeFolder(fs: Fs, folder: string): void {
  if (!fs.stat(folder)) fs.makeDir(folder)
}
