import { RefLocks } from '../../transactions/write-path.ts'
import type { DecidedMove } from '../../transactions/arbiter.ts'
import type { Copy } from './copy.ts'

/** Where refs of one repository are to be, as the log has them at a version of it. */
export interface RefsAt {
  readonly gitdir: string
  readonly repository: string
  readonly version: number
  readonly moves: readonly Pick<DecidedMove, 'ref' | 'target'>[]
}

/**
 * Has refs of several repositories where they are to be, whatever they hold, by git's own locks and all in one go: those of the last
 * repository first (see moveRefs of the write path). What a newer decision of this server moved stays.
 */
export async function setRefs(copy: Copy, repositories: readonly RefsAt[]): Promise<void> {
  // A writer of this server that holds a lock now may be decided while it is waited for: then it is the newer one.
  while (!(await trySetRefs(copy, repositories)));
}

async function trySetRefs({ fs, own }: Copy, repositories: readonly RefsAt[]): Promise<boolean> {
  const isOver = ({ repository, version }: RefsAt, ref: string): boolean =>
    own.isNewer(repository, ref, version)
  const held: (RefsAt & { readonly locks: RefLocks })[] = []
  try {
    for (const at of [...repositories].sort((a, b) => (a.gitdir < b.gitdir ? -1 : 1))) {
      const moves = at.moves.filter(({ ref }) => !isOver(at, ref))
      const wanted = moves.map(({ ref, target }) => ({ ref, target, expected: WHATEVER, follows: false }))
      const locks = new RefLocks(fs, at.gitdir, wanted)
      held.push({ ...at, moves, locks })
      await locks.take()
    }
    if (held.some((at) => at.moves.some(({ ref }) => isOver(at, ref)))) return false
    for (const { locks } of held.toReversed()) await locks.set(false)
    for (const { locks } of held) if (locks.removals.length > 0) await locks.removeRefs()
    return true
  } finally {
    for (const { locks } of held) locks.release()
  }
}

/** In the place of what a ref is expected to hold: it may hold anything. */
const WHATEVER = '0'.repeat(40)
