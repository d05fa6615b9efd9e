import type { Oid } from '../../../git/objects/object.ts'
import { type DatabaseFile, bytesOf } from '../../../storage/sqlite/database-file.ts'
import { HAS_SEARCHED_ROWS } from '../../../versioning/index/database/index-file.ts'

const ROWS_REMOVED_AT_ONCE = 500

/**
 * Removes some of the rows of a variant that is gone, whose testset is gone or has opted out, or that was given up. Answers whether there
 * was one.
 */
export function removeRows(file: DatabaseFile): boolean {
  // Most often there is none, and nobody is to wait for that.
  if (file.rows(UNWANTED).length === 0) return false
  return file.transaction(() => {
    const [unwanted] = file.rows<{ variant: number; isKept: number }>(UNWANTED)
    if (!unwanted) return false
    const { variant, isKept } = unwanted
    // Whoever opts in again meanwhile begins anew once all of them are gone.
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
 * Has all rows of a variant removed, since they cannot be brought further: they begin anew, or, with `head`, not before the variant has
 * another head than this one.
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

/** `isKept`: it was given up, and what it was given up for is to be remembered. */
const UNWANTED = `
  SELECT h.variant, h.gone AND h.head IS NOT NULL AS isKept
  FROM row_heads h LEFT JOIN variants v ON v.number = h.variant LEFT JOIN artifacts a ON a.number = v.artifact
  WHERE h.gone OR v.latest IS NULL OR (${HAS_SEARCHED_ROWS}) IS NOT TRUE LIMIT 1`
const FORGET_HEAD = 'UPDATE row_heads SET gone = 1, head = NULL WHERE variant = ?'
const PASS_OVER = 'UPDATE row_heads SET gone = 0, tree = NULL, position = NULL WHERE variant = ?'
const SOME = 'SELECT position, row FROM variant_rows WHERE variant = ? LIMIT ?'
const GIVE_UP = `
  INSERT OR REPLACE INTO row_heads (variant, head, tree, position, gone) VALUES (?, ?, NULL, NULL, 1)`
