import { createHash } from 'node:crypto'
import type { Revision } from '../versioning/revisions/revision.ts'

/**
 * The entity tag of an answer about a revision: `"<revision id>.<hash>"`, the hash over everything else that shapes the
 * bytes (ruling 1.9): the meta commit, the variant it is shown at, its slug, and the surface and options of the answer.
 */
export function etagOf(revision: Revision, shape: string): string {
  const { artifact, variant, slug } = revision
  const shaped = [artifact.metaCommit, variant.slug, slug, shape].join('\n')
  return `"${revision.id}.${createHash('sha1').update(shaped).digest('base64url').slice(0, 12)}"`
}
