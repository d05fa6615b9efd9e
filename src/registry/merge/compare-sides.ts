import { commonHistory, firstParentsWhile } from '../../git/history.ts'
import type { Oid } from '../../git/objects.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { DiffRequest, PresentedDiff } from '../payload/family.ts'
import { diffRevisions } from '../revisions/diff-revisions.ts'
import type { RevisionLocation } from '../revisions/revision.ts'
import { homeOf, locate } from '../revisions/revision.ts'
import { assertSameArtifact } from './merge-side.ts'

/** The comparison of two revisions of an artifact. */
export interface Comparison extends PresentedDiff {
  /** The merge base, if it is a revision. */
  readonly base: RevisionLocation | undefined
  /** The head's revisions that the base lacks, newest first along first parents, and vice versa. */
  readonly ahead: readonly RevisionLocation[]
  readonly behind: readonly RevisionLocation[]
}

/**
 * Compares two revisions of one artifact: how far each has moved since their merge base, and what the head
 * changed since then. Without a single merge base, the difference is from the base itself.
 */
export async function compareSides(
  base: RevisionLocation,
  head: RevisionLocation,
  asked: DiffRequest,
): Promise<Comparison> {
  assertSameArtifact(base, head)
  const { artifact } = head
  const { objects } = artifact.repository
  const slice = new TimeSlice(asked.signal)
  const common = await commonHistory(objects, base.oid, head.oid, slice)
  const mergeBase = common.bases.length === 1 ? common.bases[0] : undefined
  const found = mergeBase === undefined ? undefined : await homeOf(artifact, mergeBase)
  const from = mergeBase === undefined ? base : await locate(artifact, base.variant, mergeBase)
  const chain = async (
    { oid, variant }: RevisionLocation,
    isCommon: (commit: Oid) => boolean,
  ): Promise<RevisionLocation[]> => {
    const commits = await firstParentsWhile(objects, oid, (commit) => !isCommon(commit), slice)
    return slice.map(commits, (commit) => locate(artifact, variant, commit))
  }
  return {
    base: found,
    ahead: await chain(head, (commit) => common.isInFirst(commit)),
    behind: await chain(base, (commit) => common.isInSecond(commit)),
    ...(await diffRevisions(from, head, asked)),
  }
}
