import { type DatabaseFile, utf8Of } from '../../../storage/sqlite/database-file.ts'

/** An artifact as a process of before saw it: what `saveView` answered. */
export interface SavedArtifact {
  readonly slug: string
  readonly saved: string
}

/** The artifacts of a family that have a view for the next start. */
export function savedIn(file: DatabaseFile, family: string): SavedArtifact[] {
  const rows = file.rows<{ readonly slug: ArrayBuffer; readonly saved: ArrayBuffer }>(SAVED, family)
  return rows.map(({ slug, saved }) => ({ slug: utf8Of(slug), saved: utf8Of(saved) }))
}

/** What the rows of each artifact were made of (see seenOf), by its place. */
export function seenIn(file: DatabaseFile): Map<string, string> {
  const rows = file.rows<{ readonly path: ArrayBuffer; readonly seen: ArrayBuffer }>(SEEN)
  return new Map(rows.map(({ path, seen }) => [utf8Of(path), utf8Of(seen)]))
}

const SAVED = `
  SELECT CAST(slug AS BLOB) AS slug, CAST(saved AS BLOB) AS saved FROM artifacts WHERE family = ? AND saved IS NOT NULL`
const SEEN = "SELECT CAST(family || '/' || slug AS BLOB) AS path, CAST(seen AS BLOB) AS seen FROM artifacts"
