import type { Oid } from '../../../git/objects/object.ts'
import { objectIn } from '../../../resources/testsets/rows/stored-row.ts'
import { type DatabaseFile, bytesOf } from '../../../storage/sqlite/database-file.ts'
import { textsOfRow } from '../../texts-of.ts'
import { indexedText } from '../../words/search-words.ts'
import { removeUnheld } from './remove-rows.ts'
import type { RowsState } from './rows-behind.ts'
import { isRowsState } from './rows-behind.ts'

/** A step that brings the rows of a variant from one state to the next. */
export interface RowsStep {
  /** The variant's number in the index. */
  readonly variant: number
  readonly from: RowsState | undefined
  readonly to: RowsState
  /** Positions, hexadecimal, with the row that stands there from now on; undefined: none. */
  readonly changes: readonly (readonly [position: string, oid: Oid | undefined])[]
  /** The text of the blob of each row that the index does not have. */
  readonly blobs: ReadonlyMap<Oid, string>
}

/** Which of these rows the index does not have for a variant's testset. */
export function unknownRows(file: DatabaseFile, variant: number, oids: readonly Oid[]): Oid[] {
  const artifact = artifactOf(file, variant)
  if (artifact === undefined) return []
  return [...new Set(oids)].filter((oid) => rowOf(file, artifact, oid) === undefined)
}

/** Takes a step. Answers false, and has done nothing, where another server has taken one meanwhile, or the variant is gone. */
export function takeRowsStep(file: DatabaseFile, { variant, from, to, changes, blobs }: RowsStep): boolean {
  const words = new Map(Array.from(blobs, ([oid, text]) => [oid, wordsOf(text)]))
  return file.transaction(() => {
    const artifact = artifactOf(file, variant)
    if (artifact === undefined || !isRowsState(file, variant, from)) return false
    // Removed by another server, or with the whole file, since it was asked for.
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

/** What is no row is found by nothing. */
function wordsOf(text: string): string {
  const data = objectIn(Buffer.from(text), () => 'a row')
  return typeof data === 'string' ? '' : indexedText(textsOfRow(data).map((it) => it.text))
}

function artifactOf(file: DatabaseFile, variant: number): number | undefined {
  return file.rows<{ artifact: number }>('SELECT artifact FROM variants WHERE number = ?', variant)[0]
    ?.artifact
}

function rowOf(file: DatabaseFile, artifact: number, oid: Oid): number | undefined {
  return file.rows<{ number: number }>(ROW, artifact, bytesOf(oid))[0]?.number
}

function addRow(file: DatabaseFile, artifact: number, oid: Oid, words: string): number {
  const row = Number(
    file.run('INSERT INTO rows (artifact, oid) VALUES (?, ?)', artifact, bytesOf(oid)).lastInsertRowid,
  )
  file.run('INSERT INTO row_words (rowid, data) VALUES (?, ?)', row, words)
  return row
}

const ROW = 'SELECT number FROM rows WHERE artifact = ? AND oid = ?'
const ROW_AT = 'SELECT row FROM variant_rows WHERE variant = ? AND position = ?'
const SET_ROW = 'INSERT OR REPLACE INTO variant_rows (variant, position, row) VALUES (?, ?, ?)'
const SET_STATE =
  'INSERT OR REPLACE INTO row_heads (variant, head, tree, position, gone) VALUES (?, ?, ?, ?, 0)'
