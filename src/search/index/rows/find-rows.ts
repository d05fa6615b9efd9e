import type { Oid } from '../../../git/objects/object.ts'
import { type DatabaseFile, bytesOf, hexOf, utf8Of } from '../../../storage/sqlite/database-file.ts'
import { HAS_SEARCHED_ROWS } from '../../../versioning/index/database/index-file.ts'
import type { RowPosition } from '../../../resources/testsets/rows/row-position.ts'

/** A row that was found. */
export interface FoundRow {
  /** `<family>/<slug>` of its testset. */
  readonly path: string
  readonly oid: Oid
  /** The variants that have it, and where; those that are not archived, unless these are wanted. */
  readonly holders: readonly RowHolder[]
}

export interface RowHolder {
  /** Of the variant. */
  readonly slug: string
  readonly position: RowPosition
}

/** The statement of rows that match a query of FTS5, given as its only value: their numbers and ranks. */
export function rowsThatMatch(includeArchived: boolean): string {
  return `
    SELECT r.number, bm25(row_words) AS rank ${matching(includeArchived)}
      AND EXISTS (SELECT 1 FROM ${HOLDERS} WHERE h.row = r.number ${unlessArchived(includeArchived)})`
}

/** The same of the variants that have them, once for each row: their numbers. */
export function holdersThatMatch(includeArchived: boolean): string {
  return `
    SELECT v.number FROM (SELECT r.number AS row ${matching(includeArchived)}) found, ${HOLDERS}
    WHERE h.row = found.row ${unlessArchived(includeArchived)}`
}

/** The row of this number. */
export function foundRow(file: DatabaseFile, number: number, includeArchived: boolean): FoundRow | undefined {
  const [row] = file.rows<{ path: ArrayBuffer; oid: ArrayBuffer }>(ROW, number)
  if (!row) return undefined
  const sql = `SELECT CAST(v.slug AS BLOB) AS slug, h.position FROM ${HOLDERS} WHERE h.row = ? ${unlessArchived(includeArchived)}`
  const holders = file.rows<{ slug: ArrayBuffer; position: ArrayBuffer }>(sql, number)
  return {
    path: utf8Of(row.path),
    oid: hexOf(row.oid),
    holders: holders.map(({ slug, position }) => ({
      slug: utf8Of(slug),
      position: Buffer.from(position).toString('latin1'),
    })),
  }
}

/** The number of the row of a testset whose oid begins with these digits. */
export function numberOfRow(
  file: DatabaseFile,
  family: string,
  slug: string,
  prefix: string,
): number | undefined {
  const range = [bytesOf(prefix.padEnd(40, '0')), bytesOf(prefix.padEnd(40, 'f'))] as const
  return file.rows<{ number: number }>(ROW_FROM, family, slug, ...range)[0]?.number
}

function matching(includeArchived: boolean): string {
  return `
    FROM row_words JOIN rows r ON r.number = row_words.rowid JOIN artifacts a ON a.number = r.artifact
    WHERE row_words MATCH ? AND ${HAS_SEARCHED_ROWS} ${includeArchived ? '' : 'AND NOT a.archived'}`
}

function unlessArchived(includeArchived: boolean): string {
  return includeArchived ? '' : 'AND NOT v.archived'
}

const HOLDERS = 'variant_rows h JOIN variants v ON v.number = h.variant'
const ROW = `
  SELECT CAST(a.family || '/' || a.slug AS BLOB) AS path, r.oid FROM rows r JOIN artifacts a ON a.number = r.artifact WHERE r.number = ?`
const ROW_FROM = `
  SELECT r.number FROM rows r JOIN artifacts a ON a.number = r.artifact
  WHERE a.family = ? AND a.slug = ? AND r.oid BETWEEN ? AND ?`
