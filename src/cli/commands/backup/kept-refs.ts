import type { AllRefs } from '../../../git/refs/list-refs.ts'
import type { Oid } from '../../../git/objects/object.ts'
import { GitFailure, gitCommand } from '../../../git/process/git-process.ts'

/** Where a backup keeps what the store has no more. The store's own refs of such names, if any, are not backed up. */
export const KEPT = 'refs/backup/'

/** A ref of the store whose history was rewritten or is gone, and where the backup still has it. */
export interface KeptRef {
  readonly ref: string
  readonly why: 'rewritten' | 'gone'
  readonly keptAt: string
  readonly oid: Oid
}

/** The refs without those that only the backup has. */
export function withoutKept({ refs, head }: AllRefs): AllRefs {
  return { refs: new Map([...refs].filter(([name]) => !name.startsWith(KEPT))), head }
}

/**
 * What a mirror would lose by becoming what the store is now: heads, notes and records that do not lead on from what they were, tags
 * that moved, and any of them that is gone. What environments run is not among it: that may go anywhere, and the
 * environment's own history has it. To be asked when the mirror has the objects of both.
 */
export async function lostRefs(
  gitdir: string,
  before: AllRefs,
  now: AllRefs,
  time: string,
  signal?: AbortSignal,
): Promise<KeptRef[]> {
  const lost: KeptRef[] = []
  for (const [ref, oid] of before.refs) {
    const target = now.refs.get(ref)
    if (target === oid || ref.startsWith('refs/environments/')) continue
    const leadsOn = target !== undefined && (await isAncestor(gitdir, oid, target, signal))
    if (leadsOn && !ref.startsWith('refs/tags/')) continue
    const keptAt = `${KEPT}${time}/${ref.slice('refs/'.length)}`
    lost.push({ ref, why: target === undefined ? 'gone' : 'rewritten', keptAt, oid })
  }
  return lost
}

async function isAncestor(gitdir: string, oid: Oid, of: Oid, signal?: AbortSignal): Promise<boolean> {
  try {
    await gitCommand(['merge-base', '--is-ancestor', oid, of], { gitdir, signal })
    return true
  } catch (error) {
    // What is no commit (128) leads nowhere.
    if (error instanceof GitFailure && error.exitCode !== null) return false
    throw error
  }
}
