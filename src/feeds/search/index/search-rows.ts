import type { Oid } from '../../../git/objects.ts'
import { type RowPosition, objectIn } from '../../../registry/testsets.ts'
import { textsOfRow } from '../texts-of.ts'
import { indexedText } from '../words/search-words.ts'
import { bytesOf, type DatabaseFile, hexOf, utf8Of } from '../../../storage/sqlite.ts'
import { HAS_SEARCHED_ROWS } from '../../../registry/registries.ts'

/** How far a variant's rows are indexed: up to `position` from `head`, after it from the tree of rows `tree`. */
export interface RowsState {
  readonly head: Oid
  readonly tree: Oid | undefined
  /** Hexadecimal, empty at the start; undefined when all rows are from `head`, whose tree is then `tree`. */
  readonly position: string | undefined
}

/** A variant of a testset whose latest revision's rows are not fully indexed. */
export interface RowsBehind {
  /** The variant's number in the index. */
  readonly variant: number
  /** `<family>/<slug>` of the testset. */
  readonly path: string
  /** The state of its rows; undefined if none are indexed. */
  readonly state: RowsState | undefined
  /** The commit to index. An interrupted step is finished first. */
  readonly head: Oid
}

/** A variant to index. Those not started come first, the newest first, so that a large one delays no others. */
export function rowsBehind(file: DatabaseFile): RowsBehind | undefined {
  const [row] = file.rows<BehindRow>(BEHIND)
  if (!row) return undefined
  const { variant, path } = row
  const state = stateOf(row)
  const head = state?.position === undefined ? hexOf(row.wanted) : state.head
  return { variant, path: utf8Of(path), state, head }
}

/** Whether a variant's rows are in this state, and not being removed. */
export function isRowsState(file: DatabaseFile, variant: number, state: RowsState | undefined): boolean {
  const [row] = file.rows<StateRow & { gone: number }>(STATE, variant)
  if (!row || !state) return row === state
  return row.gone === 0 && JSON.stringify(stateOf(row)) === JSON.stringify(state)
}

function stateOf({ head, tree, position }: StateRow): RowsState | undefined {
  if (!head) return undefined
  return {
    head: hexOf(head),
    tree: tree ? hexOf(tree) : undefined,
    position: position ? hexOf(position) : undefined,
  }
}

interface StateRow {
  readonly head: ArrayBuffer | null
  readonly tree: ArrayBuffer | null
  readonly position: ArrayBuffer | null
}

interface BehindRow extends StateRow {
  readonly variant: number
  readonly path: ArrayBuffer
  readonly wanted: ArrayBuffer
}

const STATE = 'SELECT head, tree, position, gone FROM row_heads WHERE variant = ?'
const BEHIND = `
  SELECT v.number AS variant, CAST(a.family || '/' || a.slug AS BLOB) AS path, v.latest AS wanted, h.head, h.tree, h.position
  FROM artifacts a INDEXED BY artifacts_with_rows JOIN variants v ON v.artifact = a.number LEFT JOIN row_heads h ON h.variant = v.number
  WHERE ${HAS_SEARCHED_ROWS} AND v.latest IS NOT NULL
    AND (h.variant IS NULL OR NOT h.gone AND (h.position IS NOT NULL OR h.head <> v.latest))
  ORDER BY h.position IS NOT NULL, v.number DESC LIMIT 1`

/** A step of indexing a variant's rows. */
export interface RowsStep {
  /** The variant's number in the index. */
  readonly variant: number
  readonly from: RowsState | undefined
  readonly to: RowsState
  /** Positions, hexadecimal, with the new row; undefined removes the row. */
  readonly changes: readonly (readonly [position: string, oid: Oid | undefined])[]
  /** The content of rows that the index does not have. */
  readonly blobs: ReadonlyMap<Oid, string>
}

/** Those of these rows that the index does not have for the variant's testset. */
export function unknownRows(file: DatabaseFile, variant: number, oids: readonly Oid[]): Oid[] {
  const artifact = artifactOf(file, variant)
  if (artifact === undefined) return []
  return [...new Set(oids)].filter((oid) => rowOf(file, artifact, oid) === undefined)
}

/** Applies a step. False, without an effect, if another server has applied one meanwhile, or the variant is gone. */
export function takeRowsStep(file: DatabaseFile, { variant, from, to, changes, blobs }: RowsStep): boolean {
  const words = new Map(Array.from(blobs, ([oid, text]) => [oid, wordsOf(text)]))
  return file.transaction(() => {
    const artifact = artifactOf(file, variant)
    if (artifact === undefined || !isRowsState(file, variant, from)) return false
    // Rows may have been removed meanwhile by another server, or with the whole file.
    const isMissing = (oid: Oid): boolean => rowOf(file, artifact, oid) === undefined && !words.has(oid)
    if (changes.some(([, oid]) => oid !== undefined && isMissing(oid))) return false
    const before = new Set<number>()
    for (const [position, oid] of changes) {
      const at = bytesOf(position)
      const [old] = file.rows<{ row: number }>(ROW_AT, variant, at)
      if (old) before.add(old.row)
      if (oid === undefined)
        file.run('DELETE FROM variant_rows WHERE variant = ? AND position = ?', variant, at)
      else {
        const row = rowOf(file, artifact, oid) ?? addRow(file, artifact, oid, words.get(oid) ?? '')
        file.run(SET_ROW, variant, at, row)
      }
    }
    removeUnheld(file, before)
    const position = to.position === undefined ? null : bytesOf(to.position)
    file.run(SET_STATE, variant, bytesOf(to.head), to.tree === undefined ? null : bytesOf(to.tree), position)
    return true
  })
}

/** The indexed words; none if the text is not a row. */
function wordsOf(text: string): string {
  const data = objectIn(Buffer.from(text), () => 'a row')
  return typeof data === 'string' ? '' : indexedText(textsOfRow(data).map((it) => it.text))
}

function artifactOf(file: DatabaseFile, variant: number): number | undefined {
  return file.rows<{ artifact: number }>('SELECT artifact FROM variants WHERE number = ?', variant)[0]
    ?.artifact
}

function rowOf(file: DatabaseFile, artifact: number, oid: Oid): number | undefined {
  return file.rows<{ number: number }>(NUMBER_OF_ROW, artifact, bytesOf(oid))[0]?.number
}

function addRow(file: DatabaseFile, artifact: number, oid: Oid, words: string): number {
  const row = Number(
    file.run('INSERT INTO rows (artifact, oid) VALUES (?, ?)', artifact, bytesOf(oid)).lastInsertRowid,
  )
  file.run('INSERT INTO row_words (rowid, data) VALUES (?, ?)', row, words)
  return row
}

const NUMBER_OF_ROW = 'SELECT number FROM rows WHERE artifact = ? AND oid = ?'
const ROW_AT = 'SELECT row FROM variant_rows WHERE variant = ? AND position = ?'
const SET_ROW = 'INSERT OR REPLACE INTO variant_rows (variant, position, row) VALUES (?, ?, ?)'
const SET_STATE =
  'INSERT OR REPLACE INTO row_heads (variant, head, tree, position, gone) VALUES (?, ?, ?, ?, 0)'

const ROWS_REMOVED_AT_ONCE = 500

/** Removes some rows of a variant that is gone or was given up, or whose testset is gone or has opted out. Answers whether there was one. */
export function removeRows(file: DatabaseFile): boolean {
  // Usually there is none, so this check takes no lock.
  if (file.rows(UNWANTED).length === 0) return false
  return file.transaction(() => {
    const [unwanted] = file.rows<{ variant: number; isKept: number }>(UNWANTED)
    if (!unwanted) return false
    const { variant, isKept } = unwanted
    // If the testset opts in again meanwhile, indexing starts over when all rows are gone.
    file.run(isKept ? 'UPDATE row_heads SET gone = 1 WHERE variant = ?' : FORGET_HEAD, variant)
    const rows = file.rows<{ position: ArrayBuffer; row: number }>(SOME, variant, ROWS_REMOVED_AT_ONCE)
    for (const { position } of rows)
      file.run(
        'DELETE FROM variant_rows WHERE variant = ? AND position = ?',
        variant,
        new Uint8Array(position),
      )
    removeUnheld(file, new Set(rows.map(({ row }) => row)))
    if (rows.length === ROWS_REMOVED_AT_ONCE) return true
    file.run(isKept ? PASS_OVER : 'DELETE FROM row_heads WHERE variant = ?', variant)
    return true
  })
}

/**
 * Removes all rows of a variant, because indexing cannot continue. It starts over, or, with `head`, only when the variant has another head.
 */
export function giveUpRows(file: DatabaseFile, variant: number, head: Oid | undefined): boolean {
  file.run(GIVE_UP, variant, head === undefined ? null : bytesOf(head))
  return true
}

/** Removes those of these rows that no variant has any more, with their words. */
export function removeUnheld(file: DatabaseFile, rows: ReadonlySet<number>): void {
  for (const row of rows) {
    if (file.rows('SELECT 1 FROM variant_rows WHERE row = ? LIMIT 1', row).length > 0) continue
    file.run('DELETE FROM row_words WHERE rowid = ?', row)
    file.run('DELETE FROM rows WHERE number = ?', row)
  }
}

/** `isKept`: the variant was given up, and its head is remembered. */
const UNWANTED = `
  SELECT h.variant, h.gone AND h.head IS NOT NULL AS isKept
  FROM row_heads h LEFT JOIN variants v ON v.number = h.variant LEFT JOIN artifacts a ON a.number = v.artifact
  WHERE h.gone OR v.latest IS NULL OR (${HAS_SEARCHED_ROWS}) IS NOT TRUE LIMIT 1`
const FORGET_HEAD = 'UPDATE row_heads SET gone = 1, head = NULL WHERE variant = ?'
const PASS_OVER = 'UPDATE row_heads SET gone = 0, tree = NULL, position = NULL WHERE variant = ?'
const SOME = 'SELECT position, row FROM variant_rows WHERE variant = ? LIMIT ?'
const GIVE_UP = `
  INSERT OR REPLACE INTO row_heads (variant, head, tree, position, gone) VALUES (?, ?, NULL, NULL, 1)`

export interface FoundRow {
  /** `<family>/<slug>` of the testset. */
  readonly path: string
  readonly oid: Oid
  /** The variants with the row, and its positions; archived ones only if requested. */
  readonly holders: readonly RowHolder[]
}

export interface RowHolder {
  /** The slug of the variant. */
  readonly slug: string
  readonly position: RowPosition
}

/** SQL for the numbers and ranks of rows that match a query of FTS5, its only value. */
export function rowsThatMatch(includeArchived: boolean): string {
  return `
    SELECT r.number, bm25(row_words) AS rank ${matching(includeArchived)}
      AND EXISTS (SELECT 1 FROM ${HOLDERS} WHERE h.row = r.number ${unlessArchived(includeArchived)})`
}

/** SQL for the numbers of the variants that have these rows, once per row. */
export function holdersThatMatch(includeArchived: boolean): string {
  return `
    SELECT v.number FROM (SELECT r.number AS row ${matching(includeArchived)}) found, ${HOLDERS}
    WHERE h.row = found.row ${unlessArchived(includeArchived)}`
}

/** The row with this number. */
export function foundRow(file: DatabaseFile, number: number, includeArchived: boolean): FoundRow | undefined {
  const [row] = file.rows<{ path: ArrayBuffer; oid: ArrayBuffer }>(PLACE_OF_ROW, number)
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

/** The number of a testset's row, by the first digits of its oid. */
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
const PLACE_OF_ROW = `
  SELECT CAST(a.family || '/' || a.slug AS BLOB) AS path, r.oid FROM rows r JOIN artifacts a ON a.number = r.artifact WHERE r.number = ?`
const ROW_FROM = `
  SELECT r.number FROM rows r JOIN artifacts a ON a.number = r.artifact
  WHERE a.family = ? AND a.slug = ? AND r.oid BETWEEN ? AND ?`
