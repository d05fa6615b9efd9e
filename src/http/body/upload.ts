import type { ParameterizedContext } from 'koa'
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { Refusal } from '../../errors.ts'
import type { RowFileType } from '../../resources/testsets/import/files/file-type.ts'
import { ROW_MEDIA_TYPES, rowFileType } from '../../resources/testsets/import/files/file-type.ts'
import { inflatedBody } from './inflate-body.ts'
import type { UploadForm } from './multipart.ts'
import { addField, noFile, readForm } from './multipart.ts'
import type { Spooled, Spools } from './spool.ts'

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
