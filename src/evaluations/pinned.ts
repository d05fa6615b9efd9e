import type { Revision } from '../versioning/revisions/revision.ts'
import type { NamedEvaluator, PinnedRevision } from './evaluation.ts'

/** The names of a revision that stay. */
export function pinnedRevisionOf({ artifact, id, slug, version }: Revision): PinnedRevision {
  return {
    artifact_id: artifact.id,
    artifact_slug: artifact.slug,
    revision_id: id,
    revision_slug: slug,
    version,
  }
}

/** Evaluators under names that tell them apart; one that is listed twice takes part once. */
export function nameEvaluators(evaluators: readonly Revision[]): readonly NamedEvaluator[] {
  const unique = [...new Map(evaluators.map((it) => [it.id, it])).values()]
  return unique.map((evaluator) => {
    const { artifact, slug } = evaluator
    const isAlone = unique.filter((it) => it.artifact.id === artifact.id).length === 1
    return { name: isAlone ? artifact.slug : slug, ...pinnedRevisionOf(evaluator) }
  })
}
