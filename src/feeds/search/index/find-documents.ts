import { Refusal } from '../../../errors.ts'
import { type DatabaseFile, utf8Of } from '../../../storage/sqlite.ts'
import { foundRow, holdersThatMatch, numberOfRow, type RowHolder, rowsThatMatch } from './search-rows.ts'

export interface DocumentQuestion {
  /** A query of FTS5. */
  readonly match: string
  /** The requested kinds of artifacts. */
  readonly kinds: readonly DocumentKind[]
  /** Whether rows are searched too. */
  readonly withRows: boolean
  /** Whether revisions that are no variant's latest (interface 4.24) are searched too; rows are those of the latest revisions. */
  readonly includeHistory: boolean
  readonly includeArchived: boolean
  /** The time limit, in milliseconds. */
  readonly mostMs: number
}

/** The requested part of the results. */
export interface DocumentPage {
  /** The artifact, revision or row after which the page starts. */
  readonly behind: DocumentPlace | undefined
  readonly limit: number
}

/** Artifacts of a family, or those of them with a flag. */
export interface DocumentKind {
  readonly family: string
  readonly flag?: string | undefined
}

/** A document: a row, a revision, or an artifact without one. */
export interface DocumentPlace {
  /** `<family>/<slug>` of the artifact. */
  readonly path: string
  /** For a revision: its oid, hexadecimal. */
  readonly oid?: string | undefined
  /** For a row: the first digits of its oid, at least 18. */
  readonly row?: string | undefined
}

export interface FoundDocument extends DocumentPlace {
  /** Larger is better. */
  readonly rank: number
  /** For a row: the variants that have it. */
  readonly holders?: readonly RowHolder[]
}

const MATCHES_BETWEEN_CLOCK_READS = 256

/**
 * The matching documents, best first, then newest first; undefined if `behind` is not among them. Refuses with `query_too_broad` after the
 * time limit, which is checked while matches are read one by one.
 */
export function findDocuments(
  file: DatabaseFile,
  question: DocumentQuestion,
  { behind, limit }: DocumentPage,
): FoundDocument[] | undefined {
  const found = allThatMatch(file, question)
  found.sort((a, b) => a.rank - b.rank || Number(a.isRow) - Number(b.isRow) || b.number - a.number)
  const last = behind && numberOf(file, behind)
  const isLast = ({ number, isRow }: Match): boolean =>
    number === last && isRow === (behind?.row !== undefined)
  const start = behind ? found.findIndex(isLast) + 1 : 0
  if (behind && start === 0) return undefined
  return found.slice(start, start + limit).flatMap(({ number, rank, isRow }): FoundDocument[] => {
    if (isRow) {
      const row = foundRow(file, number, question.includeArchived)
      return row ? [{ path: row.path, row: row.oid, holders: row.holders, rank: -rank }] : []
    }
    const [place] = file.rows<PlaceRow>(number < 0 ? ARTIFACT : REVISION, Math.abs(number))
    return place ? [{ path: utf8Of(place.path), oid: place.oid ?? undefined, rank: -rank }] : []
  })
}

/**
 * The artifacts and revisions that match, or that have a matching row, each once, in no order. Refuses with `query_too_broad` after the time
 * limit.
 */
export function findPlaces(file: DatabaseFile, question: DocumentQuestion): DocumentPlace[] {
  const numbers = new Set<number>()
  const variants = new Set<number>()
  for (const { number, isRow } of allThatMatch(file, question, holdersThatMatch))
    (isRow ? variants : numbers).add(number)
  const places = [...numbers].flatMap((number) =>
    file.rows<PlaceRow>(number < 0 ? ARTIFACT : REVISION, Math.abs(number)),
  )
  const heads = [...variants].flatMap((number) => file.rows<PlaceRow>(HEAD, number))
  return [...places, ...heads].map(({ path, oid }) => ({ path: utf8Of(path), oid: oid ?? undefined }))
}

interface Match {
  readonly number: number
  readonly isRow: boolean
  /** As in FTS5: smaller is better. */
  readonly rank: number
}

function allThatMatch(file: DatabaseFile, question: DocumentQuestion, ofRows = rowsThatMatch): Match[] {
  const { match, kinds, withRows, includeArchived, mostMs } = question
  const until = performance.now() + mostMs
  const statements: Statement[] =
    kinds.length > 0 ? [revisionsThatMatch(question), artifactsThatMatch(question)] : []
  if (withRows) statements.push({ sql: ofRows(includeArchived), values: [match], isOfRows: true })
  const found: Match[] = []
  for (const { sql, values, isOfRows: isRow = false } of statements) {
    // The columns are those of our own statement.
    for (const row of file.statement(sql).iterate(values) as IterableIterator<Omit<Match, 'isRow'>>) {
      found.push({ number: row.number, rank: row.rank, isRow })
      if (found.length % MATCHES_BETWEEN_CLOCK_READS === 0 && performance.now() > until)
        throw tooBroad(mostMs)
    }
  }
  return found
}

interface PlaceRow {
  readonly path: ArrayBuffer
  readonly oid: string | null
}

interface Statement {
  readonly sql: string
  readonly values: readonly string[]
  readonly isOfRows?: boolean
}

/** Words in names weigh more than words in texts. */
const RANK = 'bm25(search, 10.0, 4.0, 4.0, 2.0, 1.0)'

function revisionsThatMatch(question: DocumentQuestion): Statement {
  const { includeHistory, includeArchived } = question
  const held = includeHistory
    ? 'lines l JOIN variants v ON v.number = l.variant WHERE l.segment = r.segment AND l.up_to >= r.depth'
    : `variants v WHERE v.artifact = r.artifact AND ${includeArchived ? 'r.oid IN (v.head, v.latest)' : 'r.oid = v.latest'}`
  const { sql, values } = isWanted(question)
  return {
    sql: `SELECT r.number, ${RANK} AS rank
          FROM search JOIN revisions r ON r.number = search.rowid JOIN artifacts a ON a.number = r.artifact
          WHERE search MATCH ? AND ${sql} ${includeArchived ? '' : 'AND NOT r.archived'}
            AND EXISTS (SELECT 1 FROM ${held} ${includeArchived ? '' : 'AND NOT v.archived'})`,
    values,
  }
}

function artifactsThatMatch(question: DocumentQuestion): Statement {
  const { sql, values } = isWanted(question)
  return {
    sql: `SELECT -a.number AS number, ${RANK} AS rank FROM search JOIN artifacts a ON a.number = -search.rowid
          WHERE search MATCH ? AND ${sql}
            AND NOT EXISTS (SELECT 1 FROM variants v WHERE v.artifact = a.number AND ${question.includeArchived ? 'v.head' : 'v.latest'} IS NOT NULL)`,
    values,
  }
}

function isWanted({ match, kinds, includeArchived }: DocumentQuestion): Statement {
  const ofKind = kinds.map(({ flag }) =>
    flag === undefined
      ? 'a.family = ?'
      : 'a.family = ? AND iif(json_valid(a.flags), json_extract(a.flags, ?), 0) = 1',
  )
  return {
    sql: `(${ofKind.join(' OR ')}) ${includeArchived ? '' : 'AND NOT a.archived'}`,
    values: [
      match,
      ...kinds.flatMap(({ family, flag }) => (flag === undefined ? [family] : [family, `$.${flag}`])),
    ],
  }
}

function numberOf(file: DatabaseFile, { path, oid, row }: DocumentPlace): number | undefined {
  const [family = '', slug = ''] = path.split('/')
  if (row !== undefined) return numberOfRow(file, family, slug, row)
  const sql = oid === undefined ? ARTIFACT_AT : REVISION_AT
  const values = oid === undefined ? [family, slug] : [family, slug, Buffer.from(oid, 'hex')]
  return file.rows<{ number: number }>(sql, ...values)[0]?.number
}

const REVISION = `
  SELECT CAST(a.family || '/' || a.slug AS BLOB) AS path, lower(hex(r.oid)) AS oid
  FROM revisions r JOIN artifacts a ON a.number = r.artifact WHERE r.number = ?`
const ARTIFACT =
  "SELECT CAST(family || '/' || slug AS BLOB) AS path, NULL AS oid FROM artifacts WHERE number = ?"
const HEAD = `
  SELECT CAST(a.family || '/' || a.slug AS BLOB) AS path, lower(hex(v.latest)) AS oid
  FROM variants v JOIN artifacts a ON a.number = v.artifact WHERE v.number = ?`
const REVISION_AT = `
  SELECT r.number FROM revisions r JOIN artifacts a ON a.number = r.artifact
  WHERE a.family = ? AND a.slug = ? AND r.oid = ?`
const ARTIFACT_AT = 'SELECT -number AS number FROM artifacts WHERE family = ? AND slug = ?'

/** The refusal of a search that does not end in time. */
export function tooBroad(mostMs: number): Refusal {
  return new Refusal(
    'query_too_broad',
    `The search found so much that it was stopped after ${mostMs / 1000} s. Add a word, or name the kinds that are wanted.`,
  )
}
