import { hash } from 'node:crypto'
import { v5 as uuidv5 } from 'uuid'
import type { Oid } from '../../git/objects.ts'

/**
 * Ids that say where the thing is (interface 1.13). An object's id is a UUIDv8 around the first 74 bits of its git id,
 * and its last 12 digits are those of its artifact's id, which name the repository:
 *
 *     oid   0f3c9a1be2d4 5b1 …          id   0f3c9a1b-e2d4-8 5b1 -b…-7d41c0aa93fe
 *           48 bits      12 + 14 bits                                repository
 */
export function objectUuid(oid: Oid, repositoryDigits: string): string {
  const low = Number.parseInt(oid.slice(15, 19), 16) >>> 2
  const clock = (0x8000 | low).toString(16)
  return `${oid.slice(0, 8)}-${oid.slice(8, 12)}-8${oid.slice(12, 15)}-${clock}-${repositoryDigits}`
}

/** The id of a variant: the same with a hash of its branch name, so a pushed branch has its id at once. */
export function variantUuid(slug: string, repositoryDigits: string): string {
  return objectUuid(hash('sha1', slug, 'hex'), repositoryDigits)
}

/** The 12 digits that name an id's repository. */
export function repositoryDigits(id: string): string {
  return id.slice(-12)
}

/** The hex digits of the git id in an object's id: 72 of its 74 bits. */
export function oidPrefix(id: string): string {
  const clock = Number.parseInt(id.slice(19, 23), 16) & 0x3fff
  return (
    id.slice(0, 8) +
    id.slice(9, 13) +
    id.slice(15, 18) +
    (clock << 2).toString(16).padStart(4, '0').slice(0, 3)
  )
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The id in lower case if it is a well-formed UUID of any version. */
export function parseUuid(text: string): string | undefined {
  return UUID.test(text) ? text.toLowerCase() : undefined
}

/** A UUID for a git author, `Name <email>`. It is always the same, because some clients know people only by UUIDs (interface 2.30). */
export function authorUuid(author: string): string {
  return uuidv5(author, uuidv5.URL)
}
