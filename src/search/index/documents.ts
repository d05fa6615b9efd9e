import type { DatabaseFile } from '../../storage/sqlite/database-file.ts'
import { indexedText } from '../words/match-expression.ts'

/** The fields of a document, in the order of the columns. */
export const SEARCH_FIELDS = ['name', 'description', 'tags', 'message', 'data'] as const
export type SearchField = (typeof SEARCH_FIELDS)[number]

/** What a revision, or an artifact without any, is found by. */
export interface SearchDocument {
  /** Under which it stands in the index: of a revision its number, of an artifact the negative of that. */
  readonly number: number
  /** Of a revision, so that its words never stand under a number that another one has in a file that was made anew. */
  readonly oid: string | undefined
  /** The artifact's meta commit that its names are of. */
  readonly meta: string
  readonly texts: Readonly<Record<SearchField, readonly string[]>>
  /** Whether the revision embeds anything; undefined where that cannot be told. */
  readonly embeds: boolean | undefined
}

/**
 * Makes documents found by their words, in place of what they were found by before. One whose names are others by now is left out.
 * Answers how many were written.
 */
export function writeDocuments(file: DatabaseFile, documents: readonly SearchDocument[]): number {
  const rows = documents.map(({ number, oid, meta, texts, embeds }) => ({
    number,
    oid: Buffer.from(oid ?? '', 'hex'),
    meta,
    embeds: embeds === undefined ? null : Number(embeds),
    columns: SEARCH_FIELDS.map((field) => indexedText(texts[field])),
  }))
  return file.transaction(() => {
    let written = 0
    for (const { number, oid, meta, embeds, columns } of rows) {
      const marked =
        number < 0
          ? file.run(MARK_ARTIFACT, -number, meta)
          : file.run(MARK_REVISION, embeds, number, oid, meta)
      if (marked.changes === 0) continue
      file.run('DELETE FROM search WHERE rowid = ?', number)
      file.run(ADD, number, ...columns)
      written++
    }
    return written
  })
}

const MARK_REVISION = `
  UPDATE revisions SET searched = 1, embeds = ?
  WHERE number = ? AND oid = ? AND NOT searched
    AND EXISTS (SELECT 1 FROM artifacts a WHERE a.number = revisions.artifact AND a.meta = ?)`
const MARK_ARTIFACT = 'UPDATE artifacts SET searched = 1 WHERE number = ? AND NOT searched AND meta = ?'
const ADD = 'INSERT INTO search (rowid, name, description, tags, message, data) VALUES (?, ?, ?, ?, ?, ?)'
