import { Readable, pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Refusal } from '../../../errors.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import { csvRows } from './csv-rows.ts'
import { emptyFile, wrongFormat } from './file-refusal.ts'
import type { FileLimits, FileNotes, FileRow } from './file-row.ts'
import { utf8Of } from './file-text.ts'
import type { FileFormat } from './file-format.ts'
import { TELLING_BYTES, formatByBytes } from './file-format.ts'
import type { RowFileType } from './file-type.ts'
import { jsonLinesRows } from './json-lines-rows.ts'
import { jsonRows } from './json-rows.ts'
import { xlsxRows } from './xlsx-rows.ts'

/** A file of rows while it is uploaded. */
export interface RowFile {
  /** The type by the request; see `rowFileType`. An .xlsx file, and gzip, are detected by their bytes. */
  readonly type: RowFileType
  chunks(): AsyncIterable<Buffer>
  /** Maximum bytes of an unpacked file. */
  readonly maxBytes: number
  /** Whether cells become the JSON values that they look like; else they are strings. */
  readonly infer: boolean
  /** The delimiter of a CSV file, if the request names one; see `isDelimiter`. */
  readonly delimiter?: string | undefined
  /** The sheet of an .xlsx file; the first by default. */
  readonly sheet?: string | undefined
  /** Whether an empty file means no rows. */
  readonly allowEmpty?: boolean | undefined
  /** Called with the number of rows read so far. */
  readonly onRows?: ((rows: number) => void) | undefined
}

/**
 * The rows of a file, in batches: CSV, JSON or JSONL in UTF-8, or in UTF-16 with its byte order mark, or a sheet of an .xlsx file, each
 * possibly compressed with gzip (interface 8.17). Other formats that the first bytes reveal are refused by name, and so are options that do
 * not fit the format. Refuses as the readers of the formats do, and content that unpacks to too much (`limit_exceeded`).
 */
export async function* readRowFile(
  file: RowFile,
  limits: FileLimits,
  notes: FileNotes,
  slice: TimeSlice,
): AsyncGenerator<readonly FileRow[]> {
  const sent = await peek(file.chunks())
  const isGzip = formatByBytes(sent.head) === 'gzip'
  const { head, chunks } = isGzip ? await peek(inflated(sent.chunks, file.maxBytes)) : sent
  if (head.length === 0) {
    if (file.allowEmpty) return
    throw emptyFile('The file holds no bytes')
  }
  let rows = 0
  for await (const batch of rowsAs(
    formatByBytes(head),
    { ...file, chunks: () => chunks },
    limits,
    notes,
    slice,
  )) {
    rows += batch.length
    file.onRows?.(rows)
    yield batch
  }
}

function rowsAs(
  format: FileFormat | undefined,
  { type, chunks, infer, delimiter, sheet, allowEmpty }: RowFile,
  limits: FileLimits,
  notes: FileNotes,
  slice: TimeSlice,
): AsyncIterable<readonly FileRow[]> {
  if (format === 'gzip') throw wrongFormat('The file is compressed with gzip twice; decompress it once.')
  if (format === 'zip') {
    if (delimiter !== undefined) throw useless('delimiter', 'a CSV file', 'an .xlsx file')
    return xlsxRows(chunks(), { ...limits, infer, sheet, allowEmpty, notes, signal: slice.signal })
  }
  if (typeof format === 'object') throw wrongFormat(format.refused)
  if (type === 'xlsx')
    throw wrongFormat('The file is said to be .xlsx, and is none; say what it is, or save it anew.')
  if (sheet !== undefined) throw useless('sheet', 'an .xlsx file', type)
  if (delimiter !== undefined && type !== 'csv') throw useless('delimiter', 'a CSV file', type)
  const options = { ...limits, allowEmpty }
  const text = format === undefined ? chunks() : utf8Of(chunks(), format)
  if (type === 'json') return jsonRows(text, options)
  if (type === 'jsonl') return jsonLinesRows(text, options)
  return csvRows(text, { ...options, infer, delimiter, notes })
}

function useless(option: string, of: string, is: string): Refusal {
  return wrongFormat(`The request says ${option}, which is of ${of}, and the file is ${is}; leave it out.`)
}

/** The file and its first bytes; all of a short file. */
async function peek(
  chunks: AsyncIterable<Buffer>,
): Promise<{ readonly head: Buffer; readonly chunks: AsyncIterable<Buffer> }> {
  const iterator = chunks[Symbol.asyncIterator]()
  let head: Buffer = Buffer.alloc(0)
  while (head.length < TELLING_BYTES) {
    const { value, done } = await iterator.next()
    if (done) break
    head = head.length === 0 ? value : Buffer.concat([head, value])
  }
  async function* all(): AsyncGenerator<Buffer> {
    try {
      if (head.length > 0) yield head
      for (;;) {
        const { value, done } = await iterator.next()
        if (done) return
        yield value
      }
    } finally {
      await iterator.return?.()
    }
  }
  return { head: head.subarray(0, TELLING_BYTES), chunks: all() }
}

async function* inflated(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let given = 0
  try {
    // The reader of the pipe's end gets the error.
    const unpacked = pipeline(Readable.from(chunks), createGunzip({ chunkSize: INFLATED }), () => undefined)
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      given += chunk.length
      if (given > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  } catch (error) {
    const { code } = error as { code?: unknown } // streams and our refusals throw objects only
    if (typeof code !== 'string' || !code.startsWith('Z_')) throw error
    throw wrongFormat(
      'The file does not decompress: it begins as gzip does, and is cut off or damaged; send it again.',
    )
  }
}

const INFLATED = 64 * 1024

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The file unpacks to more than ${maxBytes} bytes, the limit for a file (UPLOAD_MAX_BYTES); split it.`,
    { details: { limit_bytes: maxBytes } },
  )
}
