import type { ParameterizedContext } from 'koa'
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal, invalid } from '../../errors.ts'
import { type RowFileType, ROW_MEDIA_TYPES, rowFileType } from '../../registry/testsets.ts'
import { inflatedBody } from './inflate-body.ts'
import type { Spooled, Spools } from './spool.ts'
import { type BusboyInstance, Busboy } from '@fastify/busboy'
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface UploadOptions {
  /** Where files are kept while they are worked on. */
  readonly spools: Spools
  /** Largest file in bytes, after decompression. */
  readonly maxBytes: number
  /** Most bytes of all text fields of a form together. */
  readonly maxFieldBytes: number
}

/** A file with the text fields sent along, all of them as they came. */
export interface Upload {
  /** Of the query string and the form; the form wins. */
  readonly fields: Readonly<Record<string, string>>
  /** Which of them came in the query string. */
  readonly inQuery: ReadonlySet<string>
  readonly file: UploadedFile
  /** Removes the file; whoever asked for the upload calls it when all is done. */
  discard(): void
}

export interface UploadedFile extends Spooled {
  /** Of the bytes, in hex. */
  readonly sha256: string
  /** As the form names it, without folders. */
  readonly name: string | undefined
  /**
   * The media type, in lower case, of a body that is the file itself; undefined in a form.
   */
  readonly mediaType: FileMediaType | undefined
  /** What its name and its media type say of its type, if anything. */
  readonly saidType: RowFileType | undefined
  /** Most bytes of a file, unpacked. */
  readonly maxBytes: number
}

/** What a body may be announced as that is the file itself. */
export type FileMediaType = (typeof FILE_MEDIA_TYPES)[number]

export const FILE_MEDIA_TYPES = [...ROW_MEDIA_TYPES, 'application/gzip'] as const

/** Reads the upload of a request, once; see `uploadReader`. */
export type ReadUpload = (ctx: ParameterizedContext<unknown>) => Promise<Upload>

/**
 * Makes the reader of uploads: a form with a file in the part `file`, or the file itself as the body with the fields in the
 * query string, either of them compressed or not. The file is spooled as it comes; a large one is never whole in memory.
 *
 * Not koa-body's formidable: koa-body hands it the body as it is, compressed, and it tells files from fields by a part's type
 * rather than by its file name.
 *
 * Refuses another media type, charset or encoding (415), a file past the limit (413), a body that is cut off or not what it
 * is announced as (400), and anything but one file (422). Nothing of a refused upload stays on the disk.
 */
export function uploadReader({ spools, maxBytes, maxFieldBytes }: UploadOptions): ReadUpload {
  return async (ctx) => {
    const { headers } = ctx.req
    const contentType = headers['content-type'] ?? ''
    if (isBodyless(headers) && contentType === '') throw noFile()
    const mediaType = mediaTypeOf(contentType)
    if (isBodyless(headers) && mediaType === FORM) throw noFile()
    const fields = queryFields(ctx.querystring)
    const mostBytes = maxBytes + (mediaType === FORM ? maxFieldBytes + FRAMING : 0)
    // Compressed, incompressible bytes are a little more than they are.
    if (Number(headers['content-length']) > mostBytes + FRAMING) throw tooLarge(maxBytes)
    const body = inflatedBody(ctx.req, mostBytes, () => tooLarge(maxBytes))
    const spool = spools.open()
    try {
      const hash = createHash('sha256')
      let bytes = 0
      const onFile = (chunk: Buffer): void => {
        bytes += chunk.length
        if (bytes > maxBytes) throw tooLarge(maxBytes)
        spool.append(chunk)
        hash.update(chunk)
      }
      const form =
        mediaType === FORM
          ? await readForm(body, { contentType, maxFieldBytes, onFile })
          : await readPlain(body, onFile)
      const inQuery = new Set([...fields.keys()].filter((name) => !form.fields.has(name)))
      for (const [name, value] of form.fields) fields.set(name, value)
      const file = { ...spool.finish(), sha256: hash.digest('hex'), maxBytes }
      const announced = mediaType === FORM ? form.fileMediaType : mediaType
      return {
        fields: Object.fromEntries(fields),
        inQuery,
        file: {
          ...file,
          name: form.fileName,
          mediaType: mediaType === FORM ? undefined : mediaType,
          saidType: rowFileType({ name: form.fileName, mediaType: announced }),
        },
        discard: spool.discard,
      }
    } catch (error) {
      spool.discard()
      throw error
    }
  }
}

/** What makes an upload another one than the one before, whatever boundary and order the client chose (interface 2.25). */
export function uploadIdentity({ fields, file }: Upload): string[] {
  const sorted = Object.entries(fields).sort(([a], [b]) => (a < b ? -1 : 1))
  const isTold = file.mediaType === undefined && file.saidType !== undefined && file.saidType !== 'csv'
  return [JSON.stringify(sorted), file.mediaType ?? FORM, file.sha256, ...(isTold ? [file.saidType] : [])]
}

const FORM = 'multipart/form-data'

/** More than the boundaries and headers of a form's parts take together. */
const FRAMING = 1024 * 1024

/** RFC 9112 6.3: a request has a body if it says how long, or that it comes in chunks. */
function isBodyless(headers: IncomingHttpHeaders): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] === undefined && (length === undefined || length === '0')
}

function mediaTypeOf(contentType: string): typeof FORM | FileMediaType {
  const [media = '', ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  if (media === FORM) return FORM
  const known = FILE_MEDIA_TYPES.find((type) => type === media)
  const isUnicode = parameters.every(
    (parameter) =>
      !parameter.startsWith('charset=') || /^charset="?utf-?(?:8|16(?:le|be)?)"?$/.test(parameter),
  )
  if (known && isUnicode) return known
  throw new Refusal(
    'unsupported_media_type',
    `The body is announced as ${JSON.stringify(contentType.slice(0, 200))}; this route takes a form ` +
      `(curl -F 'file=@rows.csv'), or the file itself in Unicode under one of: ${FILE_MEDIA_TYPES.join(', ')}.`,
  )
}

function queryFields(query: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(query)) addField(fields, name, value)
  return fields
}

async function readPlain(body: AsyncIterable<Buffer>, onFile: (chunk: Buffer) => void): Promise<UploadForm> {
  for await (const chunk of body) onFile(chunk)
  return { fields: new Map(), fileName: undefined, fileMediaType: undefined }
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal(
    'body_too_large',
    `The file is larger than ${maxBytes} bytes, the limit of this server for an upload; send a smaller one.`,
    { details: { limit_bytes: maxBytes } },
  )
}

/** What a form brought beside the bytes of its file. */
interface UploadForm {
  readonly fields: ReadonlyMap<string, string>
  /** The file's name, without folders; undefined if it is empty. */
  readonly fileName: string | undefined
  /** The Content-Type of the file's part. */
  readonly fileMediaType: string | undefined
}

interface FormOptions {
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
async function readForm(
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
function noFile(): Refusal {
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
function addField(fields: Map<string, string>, name: string, value: string): void {
  const before = fields.get(name)
  if (before !== undefined && before !== value) {
    throw new Refusal(
      'contradictory_request',
      `The field ${JSON.stringify(name.slice(0, 80))} is sent twice with different values; send it once.`,
    )
  }
  fields.set(name, value)
}
