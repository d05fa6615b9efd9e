import type { Oid } from '../../../git/objects.ts'
import { bytesOf, type DatabaseFile, utf8Of } from '../../../storage/sqlite.ts'
import { SEARCH_FIELDS, type SearchText } from '../texts-of.ts'
import { type BestExcerpt, bestExcerpt } from '../words/excerpt.ts'
import type { Search } from '../words/parse-search.ts'
import { indexedText } from '../words/search-words.ts'
import type { DocumentPage, DocumentPlace, DocumentQuestion, FoundDocument } from './find-documents.ts'
import { findDocuments, findPlaces } from './find-documents.ts'
import {
  giveUpRows,
  removeRows,
  type RowsBehind,
  rowsBehind,
  type RowsStep,
  takeRowsStep,
  unknownRows,
} from './search-rows.ts'

/** The jobs of the search thread by name: what each takes and answers. */
export interface SearchWork {
  readonly unsearched: { readonly asks: { readonly most: number }; readonly answers: readonly Unsearched[] }
  readonly write: {
    readonly asks: { readonly documents: readonly SearchDocument[] }
    readonly answers: number
  }
  readonly find: {
    readonly asks: { readonly question: DocumentQuestion; readonly page: DocumentPage }
    readonly answers: readonly FoundDocument[] | undefined
  }
  readonly places: {
    readonly asks: { readonly question: DocumentQuestion }
    readonly answers: readonly DocumentPlace[]
  }
  readonly excerpt: {
    readonly asks: { readonly texts: readonly string[]; readonly search: Search }
    readonly answers: BestExcerpt | undefined
  }
  readonly rowsBehind: { readonly asks: object; readonly answers: RowsBehind | undefined }
  readonly unknownRows: {
    readonly asks: { readonly variant: number; readonly oids: readonly Oid[] }
    readonly answers: readonly Oid[]
  }
  readonly writeRows: { readonly asks: { readonly step: RowsStep }; readonly answers: boolean }
  readonly giveUpRows: {
    readonly asks: { readonly variant: number; readonly head: Oid | undefined }
    readonly answers: boolean
  }
  readonly removeRows: { readonly asks: object; readonly answers: boolean }
}

/** Runs a job on the search thread, or in the caller's thread. */
export type AskIndex = <N extends keyof SearchWork>(
  work: N,
  asks: SearchWork[N]['asks'],
) => Promise<SearchWork[N]['answers']>

const WORKS: {
  readonly [N in keyof SearchWork]: (
    file: DatabaseFile,
    asks: SearchWork[N]['asks'],
  ) => SearchWork[N]['answers']
} = {
  unsearched,
  write,
  find: (file, { question, page }) => findDocuments(file, question, page),
  places: (file, { question }) => findPlaces(file, question),
  excerpt: (_, { texts, search }) => bestExcerpt(texts, search),
  rowsBehind,
  unknownRows: (file, { variant, oids }) => unknownRows(file, variant, oids),
  writeRows: (file, { step }) => takeRowsStep(file, step),
  giveUpRows: (file, { variant, head }) => giveUpRows(file, variant, head),
  removeRows,
}

/** Runs a job in the current thread. */
export function doSearchWork<N extends keyof SearchWork>(
  file: DatabaseFile,
  work: N,
  asks: SearchWork[N]['asks'],
): SearchWork[N]['answers'] {
  return WORKS[work](file, asks)
}

/** A revision, or an artifact without revisions, whose words are not in the index yet. */
export interface Unsearched {
  /** Its row number in the search table: a revision's number in the index, or the negative number of the artifact. */
  readonly number: number
  /** `<family>/<slug>` of the artifact. */
  readonly path: string
  /** Undefined for an artifact. */
  readonly oid: string | undefined
}

/** The newest of them, at most `most`. */
export function unsearched(file: DatabaseFile, { most }: SearchWork['unsearched']['asks']): Unsearched[] {
  const revisions = file.rows<UnsearchedRow>(UNSEARCHED_REVISIONS, most)
  const artifacts = file.rows<UnsearchedRow>(UNSEARCHED_ARTIFACTS, most - revisions.length)
  const rows = [...artifacts, ...revisions]
  return rows.map(({ number, path, oid }) => ({ number, path: utf8Of(path), oid: oid ?? undefined }))
}

interface UnsearchedRow {
  readonly number: number
  readonly path: ArrayBuffer
  /** Hexadecimal. */
  readonly oid: string | null
}

/** The searchable texts of a revision, or of an artifact without revisions. */
export interface SearchDocument extends Pick<Unsearched, 'number' | 'oid'> {
  /** The artifact's meta commit from which its names were read. */
  readonly meta: string
  readonly texts: readonly Pick<SearchText, 'field' | 'text'>[]
  /** Whether the revision embeds anything; undefined if that is unknown. */
  readonly embeds: boolean | undefined
}

/**
 * Writes the words of these documents, in place of their old words. Skips a document whose names have changed meanwhile, and one whose number
 * belongs to another revision because the file was made anew. Answers how many were written.
 */
function write(file: DatabaseFile, { documents }: SearchWork['write']['asks']): number {
  const columns = documents.map(({ texts }) => columnsOf(texts))
  return file.transaction(() => {
    let written = 0
    for (const [at, { number, oid = '', meta, embeds }] of documents.entries()) {
      const isEmbedding = embeds === undefined ? null : Number(embeds)
      const marked =
        number < 0
          ? file.run(MARK_ARTIFACT, -number, meta)
          : file.run(MARK_REVISION, isEmbedding, number, bytesOf(oid), meta)
      if (marked.changes === 0) continue
      file.run('DELETE FROM search WHERE rowid = ?', number)
      file.run(ADD, number, ...(columns[at] ?? []))
      written++
    }
    return written
  })
}

/** The words of each field, in the order of the table's columns. */
function columnsOf(texts: SearchDocument['texts']): string[] {
  return SEARCH_FIELDS.map((field) => indexedText(texts.flatMap((it) => (it.field === field ? it.text : []))))
}

const UNSEARCHED_REVISIONS = `
  SELECT r.number, CAST(a.family || '/' || a.slug AS BLOB) AS path, lower(hex(r.oid)) AS oid
  FROM revisions r JOIN artifacts a ON a.number = r.artifact WHERE NOT r.searched ORDER BY r.number DESC LIMIT ?`
const UNSEARCHED_ARTIFACTS = `
  SELECT -number AS number, CAST(family || '/' || slug AS BLOB) AS path, NULL AS oid
  FROM artifacts a WHERE NOT searched AND NOT unreadable ORDER BY a.number DESC LIMIT ?`
const MARK_REVISION = `
  UPDATE revisions SET searched = 1, embeds = ?
  WHERE number = ? AND oid = ? AND NOT searched
    AND EXISTS (SELECT 1 FROM artifacts a WHERE a.number = revisions.artifact AND a.meta = ?)`
const MARK_ARTIFACT = 'UPDATE artifacts SET searched = 1 WHERE number = ? AND NOT searched AND meta = ?'
const ADD = 'INSERT INTO search (rowid, name, description, tags, message, data) VALUES (?, ?, ?, ?, ?, ?)'
