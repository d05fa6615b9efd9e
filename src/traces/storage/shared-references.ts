import type { ReferenceTexts } from '../recording/reference-texts.ts'
import type { SqlValue, TraceFile } from './trace-file.ts'

/**
 * References that many spans have, four fifths of their records, are stored once, in `reference_texts`; a span's `reference_text` is the
 * row. Its record has these characters in their places, which JSON has none of.
 */
export const PLACES: ReferenceTexts = { members: '\u0001', list: '\u0002' }

/** What a statement reads of a span's record. */
export interface RecordColumns {
  record: string
  readonly reference_text: number | null
}

/** The rows of a statement, their records as they were recorded. */
export function rowsWithRecords<T extends RecordColumns>(
  file: TraceFile,
  sql: string,
  ...values: SqlValue[]
): T[] {
  return file.snapshot(() => {
    const rows = file.rows<T>(sql, ...values)
    const texts = textsOf(file, rows)
    for (const row of rows) {
      const shared = row.reference_text === null ? undefined : texts.get(row.reference_text)
      if (shared) row.record = withReferences(row.record, shared)
    }
    return rows
  })
}

/** Read apart from the rows: most of them share a few. */
function textsOf(file: TraceFile, rows: readonly RecordColumns[]): ReadonlyMap<number, ReferenceTexts> {
  const ids = new Set(rows.map((row) => row.reference_text))
  ids.delete(null)
  if (ids.size === 0) return NONE
  const found = file.rows<ReferenceTexts & { readonly id: number }>(TEXTS, JSON.stringify([...ids]))
  return new Map(found.map((text) => [text.id, text]))
}

const NONE: ReadonlyMap<number, ReferenceTexts> = new Map()

const TEXTS = 'SELECT id, members, list FROM reference_texts WHERE id IN (SELECT value FROM json_each(?))'

function withReferences(record: string, { members, list }: ReferenceTexts): string {
  return placed(placed(record, PLACES.members, members), PLACES.list, list)
}

function placed(record: string, place: string, text: string): string {
  const at = record.indexOf(place)
  return at < 0 ? record : record.slice(0, at) + text + record.slice(at + place.length)
}
