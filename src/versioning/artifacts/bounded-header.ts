import { Refusal } from '../../errors.ts'
import { boundedJson } from '../../json/bounded-json.ts'
import type { Json } from '../../json/json.ts'
import type { Header } from './records.ts'
import { compactHeader } from './records.ts'

/**
 * Most characters of a header as JSON. The index keeps the headers of all artifacts, and lists add them up: what is larger belongs into
 * the payload.
 */
export const LONGEST_HEADER = 256 * 1024

/** The parts of a header that a write brings, in the order they are stored. Refuses a header that is too long with `limit_exceeded`. */
export function boundedHeader(header: Header): Header {
  const brought = compactHeader(header)
  assertHeaderLength(brought)
  return brought
}

/** Refuses a header, or an edit of one, that is too long with `limit_exceeded`. */
export function assertHeaderLength(header: object): void {
  // Only JSON comes here: what a request or a stored record says.
  if (!boundedJson(header as Json, LONGEST_HEADER).endsWith('…')) return
  throw new Refusal(
    'limit_exceeded',
    `Name, description, flags, tags and meta have more than ${LONGEST_HEADER} characters as JSON. Put what is large into data.`,
    { details: { limit: LONGEST_HEADER } },
  )
}
