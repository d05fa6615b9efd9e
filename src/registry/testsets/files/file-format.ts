/** The format of a file by its first bytes: how to unpack or decode it, or why it is refused. */
export type FileFormat = 'gzip' | 'zip' | 'utf16le' | 'utf16be' | { readonly refused: string }

/** The bytes at a file's beginning that determine its format. */
export const TELLING_BYTES = 4096

/** A file's format by its first bytes; undefined if it may be text in UTF-8. */
export function formatByBytes(head: Buffer): FileFormat | undefined {
  if (startsWith(head, [0x1f, 0x8b])) return 'gzip'
  if (head[0] === 0x50 && head[1] === 0x4b && ZIP_MARKS.some((mark) => startsWith(head, mark, 2)))
    return 'zip'
  const known = FORMATS.find(({ bytes, at = 0 }) => startsWith(head, bytes, at))
  if (known) return { refused: `The file is ${known.name}, which is not read; ${known.remedy ?? REMEDY}` }
  // A header may begin with its signature in capitals; but the next byte of such a file cannot be in a text.
  if (head.subarray(0, 4).equals(PARQUET) && (head[4] ?? 0x20) < 0x20 && !isLineEnd(head[4]))
    return { refused: `The file is Parquet, which is not read; ${REMEDY}` }
  if (startsWith(head, [0xff, 0xfe, 0, 0]) || startsWith(head, [0, 0, 0xfe, 0xff]))
    return { refused: 'The file is text in UTF-32; save it as UTF-8.' }
  if (startsWith(head, [0xff, 0xfe])) return 'utf16le'
  if (startsWith(head, [0xfe, 0xff])) return 'utf16be'
  if (looksLikeUtf16(head))
    return { refused: 'The file is text in UTF-16 without a byte order mark; save it with one, or as UTF-8.' }
  const text = head.toString('latin1').replace(/^(?:\u00ef\u00bb\u00bf)?\s*/, '')
  if (HTML.test(text))
    return {
      refused:
        'The file is a page of HTML, perhaps the error of a server that it was fetched from; send the rows.',
    }
  if (/^<\?xml\s/i.test(text)) return { refused: `The file is XML, which is not read; ${REMEDY}` }
  return undefined
}

const REMEDY = 'send the rows as csv, json, jsonl or .xlsx.'
const ZIP_MARKS = [
  [0x03, 0x04],
  [0x05, 0x06],
  [0x07, 0x08],
]
const PARQUET = Buffer.from('PAR1')
const HTML = /^(?:<!--[^]*?-->\s*)*<(?:!doctype\s+html|html|head|body)[\s>]/i

/** Formats that users may upload by mistake, by their first bytes. */
const FORMATS: readonly {
  readonly name: string
  readonly bytes: readonly number[]
  readonly at?: number
  readonly remedy?: string
}[] = [
  { name: 'a PDF', bytes: bytesOf('%PDF-') },
  {
    name: 'an old Excel file (.xls), or one with a password',
    bytes: [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1],
    remedy: 'save it as .xlsx, without a password.',
  },
  { name: 'a .7z archive', bytes: [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c] },
  { name: 'a .rar archive', bytes: [...bytesOf('Rar!'), 0x1a, 0x07] },
  { name: 'a .tar archive', bytes: bytesOf('ustar'), at: 257 },
  { name: 'compressed with zstd', bytes: [0x28, 0xb5, 0x2f, 0xfd], remedy: 'decompress it, or use gzip.' },
  {
    name: 'compressed with xz',
    bytes: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0],
    remedy: 'decompress it, or use gzip.',
  },
  { name: 'compressed with bzip2', bytes: bytesOf('1AY&SY'), at: 4, remedy: 'decompress it, or use gzip.' },
  { name: 'an Arrow file', bytes: [...bytesOf('ARROW1'), 0] },
  { name: 'an Avro file', bytes: [...bytesOf('Obj'), 1] },
  { name: 'a SQLite database', bytes: [...bytesOf('SQLite format 3'), 0] },
  { name: 'a picture (PNG)', bytes: [0x89, ...bytesOf('PNG')] },
  { name: 'a picture (JPEG)', bytes: [0xff, 0xd8, 0xff] },
]

function bytesOf(text: string): number[] {
  return [...Buffer.from(text)]
}

function startsWith(head: Buffer, bytes: readonly number[], at = 0): boolean {
  return head.length >= at + bytes.length && bytes.every((byte, index) => head[at + index] === byte)
}

function isLineEnd(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** Whether text has two bytes per character: delimiters have a zero byte beside them, always on the same side. */
function looksLikeUtf16(head: Buffer): boolean {
  const beside = { before: 0, behind: 0, alone: 0 }
  for (let at = 0; at < head.length; at++) {
    if (!MARKS.has(head[at] ?? 0)) continue
    if (at % 2 === 0 && head[at + 1] === 0) beside.behind++
    else if (at % 2 === 1 && head[at - 1] === 0) beside.before++
    else beside.alone++
  }
  return Math.max(beside.before, beside.behind) > beside.alone
}

const MARKS: ReadonlySet<number> = new Set(bytesOf(',;\t\n\r"{}[]|'))
