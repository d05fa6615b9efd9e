import type { DatabaseFile } from '../../../storage/sqlite/database-file.ts'
import { hexOf, utf8Of } from './sql-bytes.ts'

/** A revision, or an artifact without any, whose words are not to be found yet. */
export interface Unsearched {
  /** Under which they are to stand. */
  readonly number: number
  /** `<family>/<slug>` of the artifact. */
  readonly path: string
  /** Undefined for an artifact. */
  readonly oid: string | undefined
}

/** So many of them, the newest first. */
export function unsearchedIn(file: DatabaseFile, most: number): Unsearched[] {
  const revisions = file.rows<Row>(REVISIONS, most)
  const artifacts = file.rows<Row>(ARTIFACTS, most - revisions.length)
  return [...artifacts, ...revisions].map(({ number, path, oid }) => ({
    number,
    path: utf8Of(path),
    oid: oid ? hexOf(oid) : undefined,
  }))
}

interface Row {
  readonly number: number
  readonly path: ArrayBuffer
  readonly oid: ArrayBuffer | null
}

const REVISIONS = `
  SELECT r.number, CAST(a.family || '/' || a.slug AS BLOB) AS path, r.oid
  FROM revisions r JOIN artifacts a ON a.number = r.artifact WHERE NOT r.searched ORDER BY r.number DESC LIMIT ?`
const ARTIFACTS = `
  SELECT -number AS number, CAST(family || '/' || slug AS BLOB) AS path, NULL AS oid
  FROM artifacts a WHERE NOT searched AND NOT unreadable ORDER BY a.number DESC LIMIT ?`
