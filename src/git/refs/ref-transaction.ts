import { assertNoRefNameConflict, PackedNames } from './ref-name-conflict.ts'
import { TimeSlice } from '../../scheduling/cooperative.ts'
import { isFenced, untilUnfenced } from '../trash/fence.ts'
import type { Fs } from '../../storage/fs.ts'
import { RefLocks } from './ref-locks.ts'
import type { RefMove, RefMoves } from './ref-move.ts'
import type { RefReader } from './ref-store.ts'

/** A write that is on the disk, and only has to be put in place. */
export interface Decision {
  /** It could not be put in place: it shall not happen. */
  withdraw(): Promise<void>
}

/** Thrown when a ref no longer holds what the mover expected: nothing was moved, work it out again. */
export class RefMoved extends Error {
  override readonly name = 'RefMoved'
}

/**
 * Moves refs by git's lock protocol: takes every lock, compares, has `decide` put the write on the disk (all or nothing),
 * and renames the locks into place; refs that go are deleted last. Throws RefMoved, or what `decide` threw, having moved
 * nothing; a decision after which nothing could be moved is withdrawn.
 */
export function moveRefs(
  fs: Fs,
  gitdir: string,
  refs: RefReader,
  moves: readonly RefMove[],
  decide: () => Promise<Decision>,
): Promise<void> {
  return moveRefsTogether([{ fs, gitdir, refs, moves }], decide)
}

/**
 * The same for the refs of several repositories, whose order must be the same for all writers. If the disk keeps failing when some
 * of the refs have moved, the locks on the others are left: nobody shall move them elsewhere before the write is finished, which
 * whoever takes them over does first, or the next start (see finishWrites).
 */
export async function moveRefsTogether(
  parts: readonly RefMoves[],
  decide: () => Promise<Decision>,
): Promise<void> {
  const locks = parts.map((part) => new RefLocks(part))
  let fenced: RefMoves | undefined
  try {
    for (const lock of locks) await lock.take()
    // Only now: see fence.ts.
    fenced = parts.find(({ fs, gitdir }) => isFenced(fs, gitdir))
    if (fenced) throw new RefMoved(`${fenced.gitdir} is fenced`)
    for (const part of parts) await compare(part)
    const decision = await decide()
    try {
      await publish(locks)
    } catch (error) {
      if (!locks.some(({ hasMoved }) => hasMoved)) {
        await decision.withdraw()
        throw error
      }
      // Half of it is in place: a disk that failed once may do the rest now.
      await publish(locks)
    }
    for (const { refs, moves } of parts) refs.apply(moves)
  } catch (error) {
    const isHalfDone = locks.some(({ hasMoved }) => hasMoved)
    for (const lock of locks) isHalfDone ? lock.abandon() : lock.release()
    if (fenced) await untilUnfenced(fenced.fs, fenced.gitdir, fenced.beforeTakeOver)
    throw error
  }
}

async function compare({ fs, gitdir, refs, moves }: RefMoves): Promise<void> {
  const slice = new TimeSlice()
  await slice.each(moves, ({ ref, expected }) => {
    if (ref !== 'HEAD' && refs.current(ref) !== expected) throw new RefMoved(`${ref} moved meanwhile`)
  })
  const packed = new PackedNames(fs, gitdir)
  await slice.each(moves, (move) => {
    if (move.target !== undefined) assertNoRefNameConflict(fs, gitdir, move, packed)
  })
}

/**
 * The refs of truth first: whoever sees a ref that follows from one sees it, too. Of these the last repository's first: environments,
 * which point at the others, come before them in every order, and are to point at what is there.
 */
async function publish(locks: readonly RefLocks[]): Promise<void> {
  for (const lock of locks.toReversed()) await lock.set(({ follows }) => !follows)
  for (const lock of locks) await lock.set(({ follows }) => follows)
  for (const lock of locks) if (lock.hasRemovals) await lock.removeRefs()
}
