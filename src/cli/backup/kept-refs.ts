import type { AllRefs } from '../../git/refs.ts'
import type { Oid } from '../../git/objects.ts'
import { GitFailure, gitCommand } from '../../git/program.ts'

/** The prefix of refs that the store no longer has. The store's own refs with this prefix are not backed up. */
export const KEPT = 'refs/backup/'

/** A ref of the store that was rewritten or removed, and where the backup keeps it. */
export interface KeptRef {
  readonly ref: string
  readonly why: 'rewritten' | 'gone'
  readonly keptAt: string
  readonly oid: Oid
}

/** The refs, without those that only the backup has. */
export function withoutKept({ refs, head }: AllRefs): AllRefs {
  return { refs: new Map([...refs].filter(([name]) => !name.startsWith(KEPT))), head }
}

/**
 * The refs that a mirror would lose by an update: heads, notes and records whose new value does not descend from the old one, moved tags, and
 * removed refs. Mirror refs of environments may move anywhere, so they are left out; the environment's history has them. The mirror must have
 * the objects of both states.
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
    // An object that is not a commit (128) has no descendants.
    if (error instanceof GitFailure && error.exitCode !== null) return false
    throw error
  }
}
