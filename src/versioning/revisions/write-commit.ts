import type { Commit } from '../../git/objects/commit.ts'
import { encodeCommit } from '../../git/objects/commit.ts'
import type { Ident } from '../../git/objects/ident.ts'
import type { Oid } from '../../git/objects/object.ts'
import { signCommit } from '../../git/signing/commit-signature.ts'
import type { ObjectSink } from '../family/tree-files.ts'
import type { Registry } from '../registry.ts'
import type { WriteContext } from '../write-context.ts'
import type { Trailers } from './commit-message.ts'
import { encodeMessage } from './commit-message.ts'

/** What a new commit says, beside who makes it. */
export interface NewCommit {
  readonly tree: Oid
  readonly parent: Oid | undefined
  /** Parents behind the first, of a merge. */
  readonly otherParents?: readonly Oid[] | undefined
  /** Whoever makes the commit, where nobody else wrote what is in it. */
  readonly author?: Ident | undefined
  readonly message: string | undefined
  /** What it says where there is no message; see encodeMessage. */
  readonly subject?: string | undefined
  readonly trailers?: Trailers
  readonly now: Date
}

/**
 * Writes a commit by the actor, in UTC, with the write's key among its trailers. Every commit of a registry is made here, and so is
 * every signature: with the service's key whoever the author is, where the service has one.
 */
export function writeCommit(
  registry: Registry,
  sink: ObjectSink,
  { tree, parent, otherParents = [], author, message, subject, trailers, now }: NewCommit,
  { actor, idempotencyKey }: WriteContext,
): { readonly oid: Oid; readonly commit: Commit } {
  const committer = {
    name: actor.name,
    email: actor.email,
    seconds: Math.floor(now.getTime() / 1000),
    timezone: '+0000',
  }
  const unsigned: Commit = {
    tree,
    parents: parent === undefined ? [] : [parent, ...otherParents],
    author: author ?? committer,
    committer,
    message: encodeMessage({
      message,
      subject,
      trailers: { ...trailers, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
    }),
  }
  const key = registry.signing.key
  const commit = key ? signCommit(unsigned, key) : unsigned
  return { oid: sink.write('commit', encodeCommit(commit)), commit }
}
