import { encodeCommit } from '../../../src/git/objects/object.ts'

/** A commit by nobody in particular. */
export function commitBytes(parents: readonly string[], message: string, tree: string): Buffer {
  const author = { name: 'Ann', email: 'ann@example.com', seconds: 1_700_000_000, timezone: '+0000' }
  return encodeCommit({ tree, parents, author, committer: author, message })
}
