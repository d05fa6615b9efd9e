import { ROW_MEDIA_TYPES } from '../../../resources/testsets/import/files/file-type.ts'

/** What a file of rows may be called. */
const ROW_FILES = ['.csv', '.tsv', '.json', '.jsonl', '.ndjson', '.xlsx', '.gz', ...ROW_MEDIA_TYPES].join()

/** Asks for a file of rows; undefined where none was chosen. */
export function chooseFile(): Promise<File | undefined> {
  return new Promise((resolve) => {
    const input = document.createElement('input')
    input.type = 'file'
    input.accept = ROW_FILES
    input.onchange = () => resolve(input.files?.[0])
    input.oncancel = () => resolve(undefined)
    input.click()
  })
}

/** A size as people read it: `3.2 MB`. */
export function shownSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`
  const [size, unit] =
    bytes < 1e6 ? [bytes / 1e3, 'KB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB']
  return `${size.toFixed(1)} ${unit}`
}
