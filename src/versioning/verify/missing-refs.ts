import type { ArtifactView } from '../artifacts/artifact-view.ts'
import { findVariant } from '../artifacts/artifact-view.ts'

/** A ref that is not where records of our own say that it belongs. */
export interface MissingRef {
  readonly ref: string
  readonly target: string
}

/**
 * The refs that follow from what the registry's own records prove (interface 15.8): the branch of a fork, from the record of its
 * variant, and HEAD. What the messages of commits say proves nothing: they may have been pushed.
 */
export function missingRefs(artifact: ArtifactView): readonly MissingRef[] {
  return [...missingBranches(artifact), ...missingHead(artifact)]
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
