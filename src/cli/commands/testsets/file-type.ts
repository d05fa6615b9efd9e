import type { FileType } from '../../../resources/testsets/import/collect-file.ts'

const TYPES: Readonly<Record<string, FileType>> = {
  csv: 'csv',
  json: 'json',
  jsonl: 'jsonl',
  ndjson: 'jsonl',
}

/** What the end of a file's name says it holds, `.gz` aside; undefined if it says nothing. */
export function typeByName(path: string): FileType | undefined {
  const name = isGzip(path) ? path.slice(0, -'.gz'.length) : path
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase()
  return ending === undefined ? undefined : TYPES[ending]
}

/** Whether a file's name says that it is compressed with gzip. */
export function isGzip(path: string): boolean {
  return /\.gz$/i.test(path)
}
