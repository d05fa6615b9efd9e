import { isAscii, isUtf8 } from 'node:buffer'
import { FILE_START, type TextPlace, invalidFile, placeIn } from './file-refusal.ts'

/** A piece of a file's text, and its first and last place in the file. */
export interface FileText {
  readonly text: string
  readonly place: TextPlace
  readonly end: TextPlace
}

/**
 * Bytes that are decoded at a time: large enough that fixed costs do not matter, and small enough that a hostile piece does not block the
 * server: papaparse takes 30 ms for the worst 8 KiB, and 1600 ms for the worst 64.
 */
const STRETCH = 8192

/**
 * The text of a UTF-8 file without its byte order mark, in pieces of up to 8 KiB, however the chunks are cut. Refuses bytes that are not
 * UTF-8 (`invalid_file`), naming the first.
 */
export async function* fileText(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileText> {
  const stretch = Buffer.allocUnsafe(STRETCH)
  let size = 0
  let next: TextPlace | undefined
  const decoded = (to: number): FileText => {
    const from = next === undefined && startsWithMark(stretch, size) ? 3 : 0
    const place = next ?? FILE_START
    const text = decode(stretch.subarray(from, to), place)
    next = placeIn(place, text, text.length)
    return { text, place, end: next }
  }
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const copied = chunk.copy(stretch, size, from)
      from += copied
      size += copied
      if (size < STRETCH) continue
      const end = endOfWhole(stretch, size)
      yield decoded(end)
      stretch.copyWithin(0, end, size)
      size -= end
    }
  }
  if (size > 0) yield decoded(size)
}

function startsWithMark(bytes: Buffer, size: number): boolean {
  return size >= 3 && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
}

/** The end of the last complete character before `size`; the rest of a cut one may come with the next bytes. */
function endOfWhole(bytes: Buffer, size: number): number {
  for (let back = 1; back <= 3; back++) {
    const length = lengthOfCharacter(bytes[size - back] ?? 0)
    if (length > 0) return length > back ? size - back : size
  }
  return size
}

/** The length of a character that begins with `byte`; 0 if none does. */
function lengthOfCharacter(byte: number): number {
  if (byte < 0x80) return 1
  if (byte < 0xc2) return 0
  if (byte < 0xe0) return 2
  if (byte < 0xf0) return 3
  return byte < 0xf5 ? 4 : 0
}

function decode(bytes: Buffer, place: TextPlace): string {
  // Latin 1 decodes ASCII fastest
  if (isAscii(bytes)) return bytes.toString('latin1')
  if (isUtf8(bytes)) return bytes.toString('utf8')
  let pos = 0
  for (;;) {
    const byte = bytes[pos] ?? 0
    const length = lengthOfCharacter(byte)
    if (length === 0 || !isUtf8(bytes.subarray(pos, pos + length))) {
      const text = bytes.toString('utf8', 0, pos)
      throw invalidFile(
        placeIn(place, text, text.length),
        `The byte 0x${byte.toString(16).padStart(2, '0').toUpperCase()} is not UTF-8 here; save the file as UTF-8.`,
      )
    }
    pos += length
  }
}

/**
 * The bytes of a UTF-16 file, which begins with its byte order mark, converted to UTF-8. Refuses half a character (`invalid_file`), naming
 * its line.
 */
export async function* utf8Of(
  chunks: AsyncIterable<Buffer>,
  encoding: 'utf16le' | 'utf16be',
): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let place = FILE_START
  const decoded = (units: Buffer): Buffer => {
    const text = (encoding === 'utf16be' ? units.swap16() : units).toString('utf16le')
    if (!text.isWellFormed()) {
      const good = text.toWellFormed()
      const strange = [...text].findIndex((character, index) => character !== [...good][index])
      throw invalidFile(placeIn(place, text, Math.max(0, strange)), 'Half a character of UTF-16 stands here.')
    }
    place = placeIn(place, text, text.length)
    return Buffer.from(text)
  }
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([rest, chunk])
    let whole = bytes.length - (bytes.length % 2)
    // A character of two units may continue in the next chunk.
    if (whole >= 2 && isHighSurrogate(bytes, whole - 2, encoding)) whole -= 2
    rest = bytes.subarray(whole)
    if (whole > 0) yield decoded(bytes.subarray(0, whole))
  }
  if (rest.length % 2 === 1) throw invalidFile(place, 'The file ends in the middle of a character of UTF-16.')
  if (rest.length > 0) yield decoded(rest)
}

function isHighSurrogate(bytes: Buffer, at: number, encoding: 'utf16le' | 'utf16be'): boolean {
  return ((bytes[encoding === 'utf16be' ? at : at + 1] ?? 0) & 0xfc) === 0xd8
}
