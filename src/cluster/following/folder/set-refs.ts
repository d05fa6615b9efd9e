import { RefLocks, type DecidedMove } from '../../../git/transactions.ts'
import type { Copy } from './copy.ts'

/** Where the refs of one repository should point, as of a version of the repository in the log. */
export interface RefsAt {
  readonly gitdir: string
  readonly repository: string
  readonly version: number
  readonly moves: readonly Pick<DecidedMove, 'ref' | 'target'>[]
}

/**
 * Sets refs of several repositories whatever they hold, under git's locks and all together, the last repository first (see moveRefs of the
 * write path). Refs that a newer decision of this server moved stay.
 */
export async function setRefs(copy: Copy, repositories: readonly RefsAt[]): Promise<void> {
  // While this waits for a lock, the writer that holds it may be decided, and its decision is then newer.
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

/** Used instead of an expected value: the ref may hold anything. */
const WHATEVER = '0'.repeat(40)
