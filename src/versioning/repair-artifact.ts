import { parseCommit } from '../git/commit.ts'
import type { ArtifactView } from './artifact-view.ts'
import { findVariant } from './artifact-view.ts'
import { decodeMessage } from './commit-message.ts'
import type { Registry } from './registry.ts'
import { readBytes } from './tree-files.ts'
import { recordedHeads } from './verify-heads.ts'

/** A ref that a crash kept from following its ref of truth. */
export interface MissingRef {
  readonly ref: string
  readonly target: string
}

/**
 * Finishes what a crash cut off after an operation's ref of truth had moved (design section 3): the branch of a fork, the
 * tag of a chosen revision slug, HEAD. Answers how many refs it moved.
 */
export async function repairArtifact(registry: Registry, artifact: ArtifactView): Promise<number> {
  const { repository } = artifact
  const all = await missingRefs(registry, artifact)
  const recorded = all.length > 0 ? recordedHeads(artifact) : undefined
  // A branch that was seen elsewhere was not cut off but lost later; putting it where it began would hide that.
  const missing = all.filter(({ ref, target }) => (recorded?.get(ref) ?? target) === target)
  if (missing.length === 0) return 0
  await repository.transact(async (transaction) => {
    for (const { ref, target } of missing) {
      if (ref === 'HEAD' || transaction.ref(ref) === undefined) transaction.follow(ref, target)
    }
  })
  await registry.written(artifact.family, artifact.slug)
  return missing.length
}

/** The refs that do not follow from their refs of truth as they should. */
export async function missingRefs(registry: Registry, artifact: ArtifactView): Promise<MissingRef[]> {
  const missing = [...missingBranches(artifact), ...missingHead(artifact)]
  if (artifact.repository.wasWritten()) missing.push(...(await missingTags(registry, artifact)))
  return missing
}

function missingBranches(artifact: ArtifactView): MissingRef[] {
  return artifact.variants.flatMap(({ slug, head, record }) =>
    head === undefined && record.start !== undefined
      ? [{ ref: `refs/heads/${slug}`, target: record.start }]
      : [],
  )
}

function missingHead(artifact: ArtifactView): MissingRef[] {
  const { defaultVariant, source } = artifact
  const named = source.refs.head?.slice('refs/heads/'.length)
  if (!defaultVariant || (named !== undefined && findVariant(artifact, named))) return []
  return [{ ref: 'HEAD', target: `ref: refs/heads/${defaultVariant.slug}` }]
}

/** Only a branch's newest commit can miss its tag: the next commit comes after the answer. */
async function missingTags(registry: Registry, artifact: ArtifactView): Promise<MissingRef[]> {
  const missing: MissingRef[] = []
  for (const { head } of artifact.variants) {
    if (head === undefined) continue
    const { message } = parseCommit(await readBytes(artifact.repository.objects, head, 'commit'))
    const { slug } = decodeMessage(message).trailers
    if (slug === undefined || (await registry.index.isTaken('tag', artifact.family, slug))) continue
    missing.push({ ref: `refs/tags/${slug}`, target: head })
  }
  return missing
}
