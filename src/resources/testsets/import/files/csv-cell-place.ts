import type { CsvRecords } from './csv-record-cutter.ts'
import { type TextPlace, placeIn } from './text-place.ts'

/**
 * Where in the file a cell begins (both counted from 0). Looks for it from the start of the records, because papaparse
 * does not say; only for a refusal.
 */
export function csvCellPlace({ text, lines }: CsvRecords, record: number, cell: number): TextPlace {
  let quoted = false
  let [records, cells] = [0, 0]
  let start = 0
  let pos = 0
  for (; records < record || cells < cell; pos++) {
    const char = text.charAt(pos)
    // a doubled quote ends the quoted part and begins it again
    if (char === '"') quoted = !quoted
    else if (quoted) continue
    else if (char === ',' && records === record) cells++
    else if (char === '\n') {
      records++
      start = pos + 1
    }
  }
  return placeIn({ line: lines[record] ?? 1, column: 1 }, text.slice(start), pos - start)
}
