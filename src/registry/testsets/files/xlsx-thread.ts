import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { inflateRawSync } from 'node:zlib'
import { readXlsx, streamXlsxRows } from 'hucre/xlsx'

/** The request to the thread. */
export interface SheetRequest {
  readonly bytes: ArrayBuffer
  /** The name or number of a sheet; the first sheet by default. */
  readonly sheet: string | undefined
  readonly mostBytes: number
  readonly mostCells: number
}

/** A non-empty row; empty cells are empty texts. */
export interface SheetRow {
  /** Its number in the sheet. */
  readonly line: number
  readonly values: readonly (string | number | boolean)[]
}

/** The thread's replies: one batch of rows per request, then the end or a refusal. */
export type SheetReply =
  | { readonly kind: 'rows'; readonly rows: readonly SheetRow[] }
  | { readonly kind: 'end' }
  | { readonly kind: 'refused'; readonly sentence: string }
  | { readonly kind: 'too large' }

/** The thread's program: reads one sheet of one .xlsx file. */
async function main(): Promise<void> {
  if (!parentPort) return
  const port = parentPort
  const [request] = (await once(port, 'message')) as [SheetRequest]
  for await (const reply of repliesTo(request)) {
    port.postMessage(reply)
    if (reply.kind !== 'rows') break
    await once(port, 'message')
  }
}

/** A batch is sent when it reaches either limit. */
const ROWS_AT_ONCE = 256
const CELLS_AT_ONCE = 8192

async function* repliesTo({ bytes, sheet, mostBytes, mostCells }: SheetRequest): AsyncGenerator<SheetReply> {
  const file = new Uint8Array(bytes)
  let rows: SheetRow[] = []
  try {
    const { names, unpacked } = partsOf(file, mostBytes)
    if (unpacked > mostBytes) return yield { kind: 'too large' }
    const strange = refusalOf(names, file)
    if (strange !== undefined) return yield { kind: 'refused', sentence: strange }
    const wanted = await sheetNumber(file, sheet)
    if (typeof wanted === 'string') return yield { kind: 'refused', sentence: wanted }
    let [all, waiting] = [0, 0]
    for await (const { index, values } of streamXlsxRows(file, { sheet: wanted })) {
      all += values.length
      waiting += values.length
      if (all > mostCells) return yield { kind: 'too large' }
      const row = { line: index + 1, values: values.map(shown) }
      if (row.values.some((value) => value !== '')) rows.push(row)
      if (rows.length < ROWS_AT_ONCE && waiting < CELLS_AT_ONCE) continue
      yield { kind: 'rows', rows }
      rows = []
      waiting = 0
    }
  } catch (error) {
    const why = error instanceof Error ? error.message.slice(0, 300) : String(error)
    return yield { kind: 'refused', sentence: `The .xlsx file cannot be read (${why}); save it anew.` }
  }
  yield { kind: 'rows', rows }
  yield { kind: 'end' }
}

/** The names of the parts of a zip archive and their total unpacked size, counted to just past the limit. */
function partsOf(
  file: Uint8Array,
  most: number,
): { readonly names: readonly string[]; readonly unpacked: number } {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const end = bytes.lastIndexOf(END_OF_DIRECTORY)
  if (end === -1) throw new Error('it is cut off')
  const names: string[] = []
  let unpacked = 0
  let at = bytes.readUInt32LE(end + 16)
  for (let count = bytes.readUInt16LE(end + 10); count > 0 && unpacked <= most; count--) {
    const [method, packed] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)]
    const lengths = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset))
    const [name = 0, extra = 0, comment = 0] = lengths
    const header = bytes.readUInt32LE(at + 42)
    names.push(bytes.toString('utf8', at + 46, at + 46 + name))
    const from = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28)
    unpacked += method === 0 ? packed : lengthInflated(bytes.subarray(from), most - unpacked)
    at += 46 + name + extra + comment
  }
  return { names, unpacked }
}

const END_OF_DIRECTORY = Buffer.from([0x50, 0x4b, 0x05, 0x06])

/**
 * The unpacked size of a part, or one more than the limit. It is measured, since the size stated in the file
 * may be false.
 */
function lengthInflated(packed: Buffer, most: number): number {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) }).length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return most + 1
    throw error
  }
}

/** Why an archive with these parts is no .xlsx file; undefined if it may be one. */
function refusalOf(names: readonly string[], file: Uint8Array): string | undefined {
  const has = (start: string): boolean => names.some((name) => name.startsWith(start))
  if (has('xl/') && names.includes('[Content_Types].xml'))
    return has('xl/workbook.bin') ? 'The file is a binary Excel file (.xlsb); save it as .xlsx.' : undefined
  if (has('word/') || has('ppt/'))
    return 'The file is a document of Word or PowerPoint; send rows as csv, json, jsonl or .xlsx.'
  const start = Buffer.from(file.buffer, 0, Math.min(file.length, 200)).toString('latin1')
  if (start.includes('application/vnd.oasis.opendocument'))
    return 'The file is an OpenDocument file (.ods); save it as .xlsx or CSV.'
  return 'The file is a .zip archive; unpack it, and send the file of rows in it.'
}

/** The index of the sheet with this name, or else this number; an error sentence if there is none. */
async function sheetNumber(file: Uint8Array, sheet: string | undefined): Promise<number | string> {
  if (sheet === undefined) return 0
  const names: string[] = []
  await readXlsx(file, {
    sheets: ({ name }) => {
      names.push(name)
      return false
    },
  })
  const named = names.indexOf(sheet)
  if (named >= 0) return named
  const number = /^[1-9][0-9]{0,4}$/.test(sheet) ? Number(sheet) : Infinity
  if (number <= names.length) return number - 1
  const known = names.slice(0, 20).map((name) => JSON.stringify(name))
  return `The file has no sheet ${JSON.stringify(sheet.slice(0, 80))}; it has ${known.join(', ')}.`
}

/** The value of a cell; a formula error is its text. */
function shown(value: unknown): string | number | boolean {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return shownDate(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : String(value)
  return typeof value === 'boolean' ? value : String(value)
}

/** Excel has no dates before this, only times of day. */
const FIRST_DATE = Date.UTC(1900, 0, 1)

/**
 * A date, with its time if it has one; a time alone is only a time. Fractions of a second are rounding errors
 * and are dropped.
 */
function shownDate(date: Date): string {
  const rounded = new Date(Math.round(date.getTime() / 1000) * 1000)
  if (Number.isNaN(rounded.getTime())) return ''
  const [day = '', time = ''] = rounded.toISOString().slice(0, -'.000Z'.length).split('T')
  if (time === '00:00:00') return day
  return rounded.getTime() < FIRST_DATE ? time : `${day}T${time}`
}

void main()
