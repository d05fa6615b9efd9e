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

/** Ref moves whose lock contents are already on the disk. */
export interface PreparedMoves {
  /**
   * Takes the locks, compares, then calls `publishObjects` (after which every object the targets need is on the disk) and
   * moves the refs. Resolves when the moves are on the disk. Throws RefMoved, having moved nothing.
   */
  apply(publishObjects: () => Promise<void>): Promise<void>
  /** Forgets the moves; for when something else failed first. */
  discard(): void
}

/**
 * Writes the lock contents of the moves to the disk, without locking anything yet, so that the wait for the disk can be
 * shared with the objects' own.
 */
export async function prepareMoves(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
): Promise<PreparedMoves> {
  const sorted = [...moves].sort((a, b) => (a.ref < b.ref ? -1 : 1))
  const locks = await Promise.all(sorted.map((move) => prepareLock(fs, gitdir, `${move.target}\n`)))
  return {
    apply: (publishObjects) => applyMoves(fs, gitdir, refs, sorted, locks, publishObjects),
    discard: () => locks.forEach((lock) => lock.discard()),
  }
}

async function applyMoves(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
  locks: readonly PreparedLock[],
  publishObjects: () => Promise<void>,
): Promise<void> {
  const held = new Map<RefMove, HeldLock>()
  try {
    const made = makeFolders(fs, gitdir, moves)
    for (const [index, move] of moves.entries()) {
      // In the order of names, so that two writers never wait for each other.
      const lock = await locks[index]?.acquire(`${gitdir}/${move.ref}.lock`)
      if (lock) held.set(move, lock)
    }
    const now = refs.snapshot().refs
    for (const move of moves) {
      if (move.ref !== 'HEAD' && now.get(move.ref) !== move.expected)
        throw new RefMoved(`${move.ref} moved meanwhile`)
    }
    await publishObjects()
    for (const follows of [false, true]) {
      const folders = new Set(follows ? [] : made)
      for (const move of moves) {
        if (move.follows !== follows) continue
        held.get(move)?.publish(`${gitdir}/${move.ref}`)
        held.delete(move)
        folders.add(dirname(`${gitdir}/${move.ref}`))
      }
      await Promise.all([...folders].map((folder) => fs.syncDir(folder)))
    }
  } catch (error) {
    for (const lock of held.values()) lock.release()
    for (const lock of locks) lock.discard()
    throw error
  }
}

/** Makes missing ref folders; answers their parents, which have to be synced too. */
function makeFolders(fs: Fs, gitdir: string, moves: readonly RefMove[]): string[] {
  const parents = new Set<string>()
  for (const move of moves) {
    const folder = dirname(`${gitdir}/${move.ref}`)
    if (fs.stat(folder)) continue
    fs.makeDir(folder)
    parents.add(dirname(folder))
  }
  return [...parents]
}
