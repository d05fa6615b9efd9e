import { type JsonObject } from '../../../src/base/json/json.ts'
import { stringifyJson } from '../../../src/base/json/stringify-json.ts'
import { csvHeader, csvLine } from '../../../src/registry/testsets/csv-line.ts'
import { PUBLIC_COLUMNS } from './public-data.ts'

/** The formats of files of rows. */
export const DATA_FORMATS = ['csv', 'json', 'jsonl'] as const

export type DataFormat = (typeof DATA_FORMATS)[number]

/**
 * Rows of `publicData` as the text of a file, a row at a time. `json` (one array) and `jsonl` hold them exactly. A CSV has no word
 * for null and for a missing member, which are empty cells in it, and holds other values that are no strings as JSON text.
 */
export function* dataText(rows: Iterable<JsonObject>, format: DataFormat): Generator<string> {
  if (format === 'csv') {
    yield csvHeader(PUBLIC_COLUMNS)
    for (const row of rows) yield csvLine(PUBLIC_COLUMNS, row)
  } else if (format === 'jsonl') {
    for (const row of rows) yield `${stringifyJson(row)}\n`
  } else {
    let before = '[\n'
    for (const row of rows) {
      yield before + stringifyJson(row)
      before = ',\n'
    }
    yield before === '[\n' ? '[]\n' : '\n]\n'
  }
}
