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
 * The revision id in one of our entity tags, `"<revision id>.<hash>"`, as sent in `If-Match` (ruling 1.9 compares only
 * this part); undefined if the header is not such a tag.
 */
export function revisionOfEtag(ifMatch: string): string | undefined {
  return /^\s*(?:W\/)?"([^".]+)(?:\.[^"]*)?"\s*$/.exec(ifMatch)?.[1]
}

const ENTITY_TAG = /(?:W\/)?"[^"]*"/g

function withoutWeakness(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag
}
