import type { RefCommand } from './ref-command.ts'
import { branchSlug, RefRefused, tagSlug } from './ref-command.ts'
import { slugProblem } from '../slugs/slug.ts'

/**
 * Refuses commands that no push may contain, whatever its objects: refs other than branches and tags, deletions, moved tags, names that are
 * not slugs (interface 4.7).
 */
export function checkRefCommand({ ref, expected, target }: RefCommand): void {
  const slug = branchSlug(ref) ?? tagSlug(ref)
  if (slug === undefined) throw notPushable(ref)
  const isTag = tagSlug(ref) !== undefined
  if (target === undefined) {
    throw new RefRefused(
      'deletion',
      isTag
        ? `${ref} cannot be deleted: whoever knows the revision by the slug "${slug}" shall find it for ever.`
        : `${ref} cannot be deleted: its revisions stay. Archive the variant "${slug}" (POST /…/variants/{id}/archive).`,
    )
  }
  if (isTag && expected !== undefined) {
    throw new RefRefused(
      'tag exists',
      `${ref} exists, and a revision's slug never comes to name another one. Choose another name for the tag.`,
    )
  }
  const problem = slugProblem(slug)
  if (problem !== undefined) {
    throw new RefRefused(
      'not a slug',
      `${ref} cannot be made: the slug ${JSON.stringify(slug)} ${problem}. Choose another name (git branch -m, git tag).`,
    )
  }
}

function notPushable(ref: string): RefRefused {
  return new RefRefused('not a branch or tag', `${ref} cannot be pushed: ${remedyFor(ref)}`)
}

function remedyFor(ref: string): string {
  if (ref.startsWith('refs/environments/')) {
    return 'it follows what is deployed. Deploy (POST /…/revisions/deploy), or push to the environment.'
  }
  if (ref.startsWith('refs/meta/')) {
    return 'it holds what the registry says of the artifact. Edit or archive it over REST.'
  }
  if (ref.startsWith('refs/notes/')) {
    return 'notes here say what the registry saw: evaluations, and who pushed. Keep yours in your clone, or in another remote.'
  }
  return 'only branches (refs/heads/…) and tags (refs/tags/…) can.'
}
