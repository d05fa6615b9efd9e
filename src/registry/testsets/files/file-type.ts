/** The formats that a testset is written in. */
export const FILE_TYPES = ['csv', 'json', 'jsonl'] as const

export type FileType = (typeof FILE_TYPES)[number]

/** The formats that rows are read from; each of them also compressed with gzip. */
export const ROW_FILE_TYPES = [...FILE_TYPES, 'xlsx'] as const

export type RowFileType = (typeof ROW_FILE_TYPES)[number]

/** What a request says about a file. */
export interface SaidOfFile {
  /** The requested type. */
  readonly type?: RowFileType | undefined
  /** What it is called. */
  readonly name?: string | undefined
  readonly mediaType?: string | undefined
}

/**
 * The type of a file by the request: the requested type, else by the end of its name (without `.gz`), else by its media type; undefined if
 * none says it. Programs that send files know few media types, and give any for a .jsonl.
 */
export function rowFileType({ type, name = '', mediaType = '' }: SaidOfFile): RowFileType | undefined {
  const [, extension = ''] = /\.([^.]+)$/.exec(isGzipName(name) ? name.slice(0, -'.gz'.length) : name) ?? []
  const [media = ''] = mediaType.split(';')
  return type ?? BY_EXTENSION.get(extension.toLowerCase()) ?? BY_MEDIA_TYPE.get(media.trim().toLowerCase())
}

/** Whether a file's name says that it is compressed with gzip. */
export function isGzipName(name: string): boolean {
  return /\.gz$/i.test(name)
}

const BY_EXTENSION: ReadonlyMap<string, RowFileType> = new Map([
  ['csv', 'csv'],
  ['tsv', 'csv'],
  ['tab', 'csv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
  ['xlsx', 'xlsx'],
  ['xlsm', 'xlsx'],
])

/** The media types of rows. */
export const ROW_MEDIA_TYPES = [
  'text/csv',
  'text/tab-separated-values',
  'application/json',
  'application/jsonl',
  'application/x-ndjson',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
] as const

const BY_MEDIA_TYPE: ReadonlyMap<string, RowFileType> = new Map([
  ['text/csv', 'csv'],
  ['text/tab-separated-values', 'csv'],
  ['application/json', 'json'],
  ['application/jsonl', 'jsonl'],
  ['application/x-ndjson', 'jsonl'],
  ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'xlsx'],
])
