import type { FileType } from '../../resources/testsets/import/collect-file.ts'

const BY_EXTENSION: ReadonlyMap<string, FileType> = new Map([
  ['csv', 'csv'],
  ['json', 'json'],
  ['jsonl', 'jsonl'],
  ['ndjson', 'jsonl'],
])

const BY_MEDIA_TYPE: ReadonlyMap<string, FileType> = new Map([
  ['text/csv', 'csv'],
  ['application/json', 'json'],
  ['application/jsonl', 'jsonl'],
  ['application/x-ndjson', 'jsonl'],
])

/**
 * The type of a file that a form brings, by the ending of its name, else by what its part says of itself; undefined where neither
 * tells. Programs that send files know few types, and say of a .jsonl anything.
 */
export function partFileType(name: string | undefined, mediaType: string | undefined): FileType | undefined {
  const [, extension = ''] = /\.([^.]+)$/.exec(name ?? '') ?? []
  const [media = ''] = (mediaType ?? '').split(';')
  return BY_EXTENSION.get(extension.toLowerCase()) ?? BY_MEDIA_TYPE.get(media.trim().toLowerCase())
}
