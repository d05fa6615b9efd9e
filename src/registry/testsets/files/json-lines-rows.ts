import { emptyFile, invalidFile, placeIn, rowTooLarge, strangeAt } from './file-refusal.ts'
import { type FileLimits, type FileOptions, type FileRow, rowOfJson } from './file-row.ts'
import { fileText } from './file-text.ts'

/**
 * Reads the rows of a JSON Lines file in batches: one object per line; blank lines are skipped (interface
 * 8.17). Numbers and keys stay exactly as written. Refuses, with the place, a malformed file (`invalid_file`)
 * and one past the limits (`limit_exceeded`), and a file without rows (`empty_file`) unless that is allowed.
 */
export async function* jsonLinesRows(
  chunks: AsyncIterable<Buffer>,
  limits: FileOptions,
): AsyncGenerator<readonly FileRow[]> {
  let isEmpty = true
  let line = 1
  // the unfinished line
  let pending = ''
  let pendingBytes = 0
  for await (const { text } of fileText(chunks)) {
    const rows: FileRow[] = []
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      addRow(rows, pending + text.slice(start, end), line, limits)
      pending = ''
      pendingBytes = 0
      start = end + 1
      line++
    }
    const rest = text.slice(start)
    pending += rest
    pendingBytes += Buffer.byteLength(rest)
    if (pendingBytes > limits.maxRowBytes) throw rowTooLarge({ line, column: 1 }, limits.maxRowBytes)
    isEmpty = isEmpty && rows.length === 0
    yield rows
  }
  const rows: FileRow[] = []
  addRow(rows, pending, line, limits)
  if (isEmpty && rows.length === 0 && !limits.allowEmpty) throw emptyFile('The file has no rows')
  yield rows
}

/** Adds the row that the line holds. An empty line adds nothing. */
function addRow(rows: FileRow[], text: string, line: number, limits: FileLimits): void {
  const first = text.startsWith('{') ? 0 : text.search(/[^ \t\r]/)
  if (first === -1) return
  const begin = { line, column: 1 }
  if (text.charAt(first) !== '{') {
    const remedy =
      'every line must be one object in braces, such as {"question": "…"} (an array is the format json).'
    throw invalidFile(placeIn(begin, text, first), `${strangeAt(text, first)}; ${remedy}`)
  }
  rows.push({ data: rowOfJson(text, limits, () => begin), line })
}
