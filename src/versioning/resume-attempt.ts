import { parseCommit } from '../git/commit.ts'
import type { Oid } from '../git/object.ts'
import type { ArtifactView } from './artifact-view.ts'
import type { WriteContext } from './change-artifact.ts'
import { decodeMessage } from './commit-message.ts'
import type { Registry } from './registry.ts'
import type { ObjectSource } from './tree-files.ts'
import { readBytes } from './tree-files.ts'

/** What an earlier attempt at a write left: its commit, and the artifact as it is now, whole. */
export interface FinishedAttempt {
  readonly commit: Oid
  readonly artifact: ArtifactView
}

/**
 * The result of an earlier attempt that moved `ref` and was cut off before it could answer; undefined if there was no such
 * attempt, or if it did not get that far. Refs that follow from it and were left behind are moved. (A ref that can be seen is on
 * the disk, in the journal at least; see Journal.)
 */
export async function resumeAttempt(
  registry: Registry,
  artifact: ArtifactView,
  ref: string,
  context: WriteContext,
): Promise<FinishedAttempt | undefined> {
  if (context.attemptedAt === undefined) return undefined
  const { repository } = artifact
  const commit = await findCommit(repository.objects, repository.freshRefs().refs.get(ref), context)
  if (commit === undefined) return undefined
  return { commit, artifact: await registry.written(artifact.family, artifact.slug) }
}

/** Clocks of those who push commits on top of ours may be this wrong, in seconds. */
const SLACK = 3600

/** The newest commit by this actor with this key in its trailer, looked for from the head back to when it was first sent. */
async function findCommit(
  source: ObjectSource,
  head: Oid | undefined,
  { actor, idempotencyKey, attemptedAt }: WriteContext,
): Promise<Oid | undefined> {
  if (idempotencyKey === undefined || attemptedAt === undefined) return undefined
  const oldest = attemptedAt.getTime() / 1000 - SLACK
  for (let oid = head; oid !== undefined;) {
    const { author, committer, message, parents } = parseCommit(await readBytes(source, oid, 'commit'))
    if (committer.seconds < oldest) return undefined
    const isTheirs = author.name === actor.name && author.email === actor.email
    if (isTheirs && decodeMessage(message).trailers.idempotencyKey === idempotencyKey) return oid
    oid = parents[0]
  }
  return undefined
}
