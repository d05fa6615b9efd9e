import type { BusboyInstance } from '@fastify/busboy'
import { Busboy } from '@fastify/busboy'
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Refusal, invalid } from '../../errors.ts'

/** What a form brought beside the bytes of its file. */
export interface UploadForm {
  readonly fields: ReadonlyMap<string, string>
  /** The file's name, without folders; undefined if it is empty. */
  readonly fileName: string | undefined
  /** The Content-Type of the file's part. */
  readonly fileMediaType: string | undefined
}

export interface FormOptions {
  /** The Content-Type, with the boundary. */
  readonly contentType: string
  /** Most bytes of the names and values of all text fields together. */
  readonly maxFieldBytes: number
  /** Takes the bytes of the file as they come; what it throws ends the reading. */
  readonly onFile: (chunk: Buffer) => void
}

/**
 * Reads a multipart/form-data body with one file in the part `file` and text fields around it in any order. A part with a
 * file name is a file, any other a field, whatever its own Content-Type says (interface 8.16).
 *
 * Refuses a form without a boundary or an end (400), fields that contradict each other (400) or are too large (413), and
 * anything but exactly one file in its place (422).
 */
export async function readForm(
  bytes: AsyncIterable<Buffer>,
  { contentType, maxFieldBytes, onFile }: FormOptions,
): Promise<UploadForm> {
  const parser = openParser(contentType)
  const fields = new Map<string, string>()
  let fieldBytes = 0
  let fileName: string | undefined
  let fileMediaType: string | undefined
  let files = 0
  let chosenBytes = 0

  /** The events come from streams, where an exception would be nobody's: it ends the parser, and so the reading. */
  const attempt = (action: () => void): void => {
    if (parser.destroyed) return
    try {
      action()
    } catch (error) {
      parser.destroy(error as Error) // our refusals, or what the disk throws
    }
  }
  const takeFile = (part: Readable, name: string, mediaType: string): void => {
    if (files++ > 0) throw refusedFile('file', 'there are two files; send one', 'too_many_files')
    fileName = name === '' ? undefined : name
    fileMediaType = mediaType
    part.on('data', (chunk: Buffer) =>
      attempt(() => {
        chosenBytes += chunk.length
        onFile(chunk)
      }),
    )
  }
  const takeField = (part: Readable, name: string): void => {
    const value: Buffer[] = []
    const count = (length: number): void => {
      fieldBytes += length
      if (fieldBytes > maxFieldBytes) throw fieldsTooLarge(name, maxFieldBytes)
    }
    count(name.length)
    part.on('data', (chunk: Buffer) =>
      attempt(() => {
        count(chunk.length)
        value.push(chunk)
      }),
    )
    part.on('end', () => attempt(() => addField(fields, name, textOf(name, Buffer.concat(value)))))
  }

  parser.on('file', (name: string | undefined, part, partFile: string | undefined, encoding, mediaType) => {
    part.on('error', ignore) // of a form that is cut off, which the parser says too
    attempt(() => {
      if (name === undefined)
        throw invalid(['body'], 'a part of the form has no name; give it one.', 'missing')
      checkEncoding(name, encoding)
      if (partFile === undefined && name !== 'file') return takeField(part, name)
      if (partFile === undefined) throw refusedFile(name, TEXT_AS_FILE, 'file_expected')
      if (name !== 'file') throw refusedFile(name, FILE_AS_TEXT, 'text_expected')
      takeFile(part, partFile, mediaType)
    })
    if (parser.destroyed) part.resume()
  })
  parser.on('partsLimit', () => attempt(() => refuseManyParts()))
  // A pipeline that fails may end only with the next bytes, for which a client may wait that wants its answer first.
  const failed = new Promise<never>((_, reject) => parser.once('error', reject))
  const read = pipeline(bytes, parser)
  read.catch(ignore)
  failed.catch(ignore)
  try {
    await Promise.race([read, failed])
  } catch (error) {
    throw isCutOff(error) ? cutOff() : error
  } finally {
    parser.on('error', ignore) // a second complaint after the first
  }
  // A browser whose user chose no file sends one without name and bytes.
  if (files === 0 || (fileName === undefined && chosenBytes === 0)) throw noFile()
  return { fields, fileName, fileMediaType }
}

/** The refusal of a form, or of a body, without a file. */
export function noFile(): Refusal {
  return invalid(
    ['body', 'file'],
    `this route needs a file: send a form with a part "file" (curl -F 'file=@rows.csv'), or the file as the body under its ` +
      `own Content-Type.`,
    'missing',
  )
}

const MAX_PARTS = 100
const MAX_HEADER_BYTES = 16 * 1024

const TEXT_AS_FILE = `it is plain text; send a file, with a file name (curl -F 'file=@rows.csv')`
const FILE_AS_TEXT = 'it is a file; only the field "file" takes one, send the others as text'

function openParser(contentType: string): BusboyInstance {
  try {
    return new Busboy({
      headers: { 'content-type': contentType },
      limits: { parts: MAX_PARTS, headerSize: MAX_HEADER_BYTES },
      // Fields too, because what the parser collects itself it cuts off at its limit, and decodes whatever the bytes are.
      isPartAFile: () => true,
    })
  } catch {
    throw new Refusal(
      'contradictory_request',
      'The Content-Type says multipart/form-data without a boundary; leave the header to your HTTP client, which knows it.',
    )
  }
}

function ignore(): void {}

function checkEncoding(name: string, encoding: string): void {
  if (/^(?:7bit|8bit|binary)$/.test(encoding)) return
  throw new Refusal(
    'unsupported_media_type',
    `The part ${quote(name)} has the Content-Transfer-Encoding ${quote(encoding)}; send it as it is (RFC 7578 4.7).`,
  )
}

function textOf(name: string, bytes: Buffer): string {
  if (!isUtf8(bytes)) throw invalid(['body', name], 'its text is not valid UTF-8; encode it so.', 'not_utf8')
  return bytes.toString('utf8')
}

function refusedFile(name: string, msg: string, type: string): Refusal {
  return invalid(['body', name.slice(0, 80)], `${msg}.`, type)
}

function refuseManyParts(): never {
  throw invalid(['body'], `the form has more than ${MAX_PARTS} parts; send fewer.`, 'too_many_parts')
}

function fieldsTooLarge(name: string, limit: number): Refusal {
  return new Refusal(
    'body_too_large',
    `The text fields of the form are larger than ${limit} bytes together (at ${quote(name)}), the limit of this server; ` +
      `send less.`,
    { details: { limit_bytes: limit } },
  )
}

/** The parser says it with this sentence and no code. */
function isCutOff(error: unknown): boolean {
  return error instanceof Error && error.message === 'Unexpected end of multipart data'
}

function cutOff(): Refusal {
  return new Refusal(
    'contradictory_request',
    'The form ends before its closing boundary; send it again, whole, with the boundary that the Content-Type names.',
  )
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}

/** Adds a text field; the same again is harmless, another value under the name is refused (`contradictory_request`). */
export function addField(fields: Map<string, string>, name: string, value: string): void {
  const before = fields.get(name)
  if (before !== undefined && before !== value) {
    throw new Refusal(
      'contradictory_request',
      `The field ${JSON.stringify(name.slice(0, 80))} is sent twice with different values; send it once.`,
    )
  }
  fields.set(name, value)
}
