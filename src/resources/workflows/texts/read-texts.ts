import type { JsonObject } from '../../../json/json.ts'
import { withoutKey } from '../../../json/json.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import { damaged } from '../../documents/damaged.ts'
import { decodeText } from '../../documents/decode-text.ts'
import { assertKnownFormat, FORMAT_KEY, formatOf } from '../../documents/stored-format.ts'
import { findMarkers, withTexts } from './text-marks.ts'

/** The format in which texts lie in files (design 1a). */
export const TEXT_FORMAT = 2

/** A revision's texts lie in at most so many files. */
export const MOST_TEXTS = 256

/** Data as it was sent, and what of it lies in files: by JSON Pointer, their paths. */
export interface ReadTexts {
  readonly data: JsonObject
  readonly paths: ReadonlyMap<string, string>
}

/**
 * The data as it was sent, of data with markers and the texts' files (design 1a): those that `read` answers, undefined where there is none.
 * Data without a mark is as it is. Refuses with `damaged_repository` what cannot be read, naming `file`, which the data is from, or the
 * text's file; a format of later servers with `unsupported_format`.
 */
export async function readTexts(
  file: string,
  stored: JsonObject,
  read: (path: string) => Promise<Buffer | undefined>,
): Promise<ReadTexts> {
  assertKnownFormat(file, stored, String(TEXT_FORMAT))
  const paths = new Map<string, string>()
  if (formatOf(stored) === undefined) return { data: stored, paths }
  const slice = new TimeSlice()
  const marked = withoutKey(stored, FORMAT_KEY)
  for (const { pointer, path } of await slice.run(findMarkers(marked, file))) paths.set(pointer, path)
  const files = new Set(paths.values())
  if (files.size > MOST_TEXTS)
    throw damaged(`${file} names ${files.size} files; the texts of a revision lie in at most ${MOST_TEXTS}.`)
  const texts = new Map<string, string>()
  for (const path of files) {
    const bytes = await read(path)
    if (!bytes) throw damaged(`${file} says that a text is in ${path}, but there is no such file.`)
    texts.set(path, textIn(path, bytes))
  }
  const data = await slice.run(withTexts(marked, file, (path) => texts.get(path) ?? ''))
  return { data, paths }
}

/** What a text's file says: all of it but the line feed that writing puts at its end. */
function textIn(path: string, bytes: Buffer): string {
  const text = decodeText(path, bytes, true)
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
