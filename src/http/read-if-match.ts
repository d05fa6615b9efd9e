import { Refusal } from '../errors.ts'
import { revisionOfEtag } from './etag.ts'

/** `If-Match: *` asks only that there is a revision; otherwise one of our entity tags, of which the id counts. */
export function readIfMatch(ifMatch: string): string {
  if (ifMatch.trim() === '*') return '*'
  const id = revisionOfEtag(ifMatch)
  if (id !== undefined) return id
  throw new Refusal(
    'precondition_failed',
    `If-Match ${JSON.stringify(ifMatch.slice(0, 100))} is no entity tag of a revision. Send the ETag of the revision you changed.`,
  )
}
