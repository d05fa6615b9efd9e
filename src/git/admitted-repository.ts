import type { AllRefs } from './refs/list-refs.ts'
import type { DecidedMove, DecidedWrite, NameClaim } from './transactions/arbiter.ts'

/** A repository that was built aside, as it is about to get its name. */
export interface AdmittedRepository {
  readonly refs: AllRefs
  /** What is in its place; absent where nothing is. */
  readonly there: AllRefs | undefined
  /** The names that it comes to have in its project. */
  readonly claims: readonly NameClaim[]
}

/** What that is as a write: the refs move from what is there, or the repository begins with them. */
export function admittedWrite({
  refs,
  there,
  claims,
}: AdmittedRepository): Pick<DecidedWrite, 'moves' | 'created' | 'claims'> {
  const names = [...new Set([...(there?.refs.keys() ?? []), ...refs.refs.keys()])]
  const moves: DecidedMove[] = names.map((ref) => ({
    ref,
    expected: there?.refs.get(ref),
    target: refs.refs.get(ref),
  }))
  if (!there) return { moves, claims, created: { build: 0, head: refs.head.replace('ref: refs/heads/', '') } }
  return { moves: [...moves, { ref: 'HEAD', expected: there.head, target: refs.head }], claims }
}
