import { isOnChain } from '../../git/history.ts'
import type { Oid } from '../../git/objects.ts'
import type { Repository } from '../../git/store.ts'
import type { ArtifactView } from '../artifacts/artifact-view.ts'
import type { MetRows } from '../payload/family.ts'
import type { Registry } from '../store/registry.ts'
import type { WriteContext } from '../store/write-context.ts'

/** What an earlier attempt at a write left: its commit, and the artifact as it is now, whole. */
export interface FinishedAttempt {
  readonly commit: Oid
  readonly artifact: ArtifactView
  /** What became of rows that were sent; undefined if it brought none. */
  readonly met: MetRows | undefined
}

/**
 * The result of an earlier attempt that moved `ref` and was cut off before it could answer; undefined if there was no such
 * attempt, or if it did not get that far. What was decided is known from the journal's own notes: a commit's trailers and author
 * may have been pushed.
 */
export async function findEarlierAttempt(
  registry: Registry,
  artifact: ArtifactView,
  ref: string,
  { attempt }: WriteContext,
): Promise<FinishedAttempt | undefined> {
  const { repository, digits, family, slug } = artifact
  for (const { commit, met } of attempt?.decidedOn(digits, ref) ?? []) {
    if (await holds(repository, ref, commit))
      return { commit, artifact: await registry.index.written(family, slug), met }
  }
  return undefined
}

/** Somebody may have taken the commit off the ref since, and what was only planned never was there. */
async function holds(repository: Repository, ref: string, commit: Oid): Promise<boolean> {
  const { objects, history } = repository
  const head = repository.refs.snapshot().refs.get(ref)
  if (head === undefined || !(await objects.has(commit))) return false
  return isOnChain(await history.node(commit), await history.node(head))
}
