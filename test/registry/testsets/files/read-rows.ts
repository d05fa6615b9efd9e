import { Refusal } from '../../../../src/errors.ts'
import type { FileLimits, FileRow } from '../../../../src/registry/testsets/files/file-row.ts'
import { stringifyJson } from '../../../../src/base/json/stringify-json.ts'

/** Limits that no ordinary test meets. */
export const WIDE: FileLimits = { maxRowBytes: 5 * 1024 * 1024, maxColumns: 10_000 }

/** The bytes a reader decodes at a time; what a reader must not forget is tested by cuts there. */
export const STRETCH = 8192

type Batches = AsyncIterable<readonly FileRow[]>

/** A file's bytes in chunks of `size`. */
export async function* chunksOf(file: string | Buffer, size = 1000): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(file)
  for (let pos = 0; pos < bytes.length; pos += size) yield bytes.subarray(pos, pos + size)
}

/** All rows. */
export async function rowsOf(batches: Batches): Promise<FileRow[]> {
  const rows: FileRow[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}

/** All rows' data, as JSON text. */
export async function textsOf(batches: Batches): Promise<string[]> {
  return (await rowsOf(batches)).map(({ data }) => stringifyJson(data))
}

/** The refusal that reading ends in. */
export async function refusalOf(batches: Batches): Promise<Refusal> {
  try {
    await rowsOf(batches)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** What reading comes to, rows or a refusal, in a form to compare. */
export async function outcomeOf(batches: Batches): Promise<unknown> {
  try {
    const rows = await rowsOf(batches)
    return rows.map(({ data, line }) => [line, stringifyJson(data)])
  } catch (error) {
    if (error instanceof Refusal) return [error.code, error.message, error.data]
    throw error
  }
}
