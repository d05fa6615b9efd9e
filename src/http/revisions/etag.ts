import { createHash } from 'node:crypto'
import { Refusal } from '../../errors.ts'
import type { Revision } from '../../versioning/revisions/revision.ts'

/**
 * Whether an `If-None-Match` header names `etag`, by the weak comparison that RFC 9110 13.1.2 asks for: `*`, or a list
 * with an equal tag, `W/` or not.
 */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  if (header === etag) return true
  if (header.trim() === '*') return true
  const opaque = withoutWeakness(etag)
  return (header.match(ENTITY_TAG) ?? []).some((tag) => withoutWeakness(tag) === opaque)
}

/**
 * The revision id in one of our entity tags, `"<revision id>.<hash>"`, as sent in `If-Match` (interface 2.21 compares only
 * this part); undefined if the header is not such a tag.
 */
export function revisionOfEtag(ifMatch: string): string | undefined {
  return /^\s*(?:W\/)?"([^".]+)(?:\.[^"]*)?"\s*$/.exec(ifMatch)?.[1]
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}

/**
 * The entity tag of an answer about a revision: `"<revision id>.<hash>"`, the hash over everything else that shapes the
 * bytes (interface 2.21): the meta commit, the variant it is shown at, its slug, and the surface and options of the answer.
 */
export function etagOf(revision: Revision, shape: string): string {
  const { artifact, variant, slug } = revision
  const shaped = [artifact.metaCommit, variant.slug, slug, shape].join('\n')
  return `"${revision.id}.${createHash('sha1').update(shaped).digest('base64url').slice(0, 12)}"`
}

/** `If-Match: *` asks only that there is a revision; otherwise one of our entity tags, of which the id counts. */
export function readIfMatch(ifMatch: string | undefined): string | undefined {
  if (ifMatch === undefined) return undefined
  if (ifMatch.trim() === '*') return '*'
  const id = revisionOfEtag(ifMatch)
  if (id !== undefined) return id
  throw new Refusal(
    'precondition_failed',
    `If-Match ${JSON.stringify(ifMatch.slice(0, 100))} is no entity tag of a revision. Send the ETag of the revision you changed.`,
  )
}
