import type { JsonObject } from '../../../json/json.ts'
import { withoutKey } from '../../../json/json.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import { damaged } from '../../documents/damaged.ts'
import { decodeText } from '../../documents/decode-text.ts'
import { assertKnownFormat, FORMAT_KEY, formatOf } from '../../documents/stored-format.ts'
import type { FileReader } from '../../../versioning/family/document-family.ts'
import type { Marker } from './text-marks.ts'
import { findMarkers, withTexts } from './text-marks.ts'

/** The format in which texts lie in files (interface 7.16). */
export const TEXT_FORMAT = 2

/** A revision's texts lie in at most so many files. */
export const MOST_TEXTS = 256

/** Data as it was sent, and what of it lies in files: by JSON Pointer, their paths. */
export interface ReadTexts {
  readonly data: JsonObject
  readonly paths: ReadonlyMap<string, string>
}

/**
 * The data as it was sent, of data with markers and the texts' files (interface 7.16): those that `read` answers, undefined where there is none.
 * Data without a mark is as it is. Refuses with `damaged_repository` what cannot be read, naming `file`, which the data is from, or the
 * text's file; a format of later servers with `unsupported_format`.
 */
export async function readTexts(file: string, stored: JsonObject, read: FileReader): Promise<ReadTexts> {
  const marked = markedIn(file, stored)
  if (!marked) return { data: stored, paths: new Map() }
  const slice = new TimeSlice()
  const markers = await slice.run(findMarkers(marked, file))
  const texts = new Map<string, string>()
  for (const [path, times] of countMentions(file, markers)) {
    const bytes = await read(path, times)
    if (!bytes) throw damaged(`${file} says that a text is in ${path}, but there is no such file.`)
    texts.set(path, textIn(path, bytes))
  }
  const data = await slice.run(withTexts(marked, file, (path) => texts.get(path) ?? ''))
  return { data, paths: new Map(markers.map(({ pointer, path }) => [pointer, path])) }
}

/** The files that hold the texts of data with markers, and how many times each stands in it. Refuses as `readTexts` does. */
export async function mentionsIn(file: string, stored: JsonObject): Promise<ReadonlyMap<string, number>> {
  const marked = markedIn(file, stored)
  return marked ? countMentions(file, await new TimeSlice().run(findMarkers(marked, file))) : new Map()
}

/** The data with its markers; undefined where it has none. */
function markedIn(file: string, stored: JsonObject): JsonObject | undefined {
  assertKnownFormat(file, stored, String(TEXT_FORMAT))
  return formatOf(stored) === undefined ? undefined : withoutKey(stored, FORMAT_KEY)
}

function countMentions(file: string, markers: readonly Marker[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const { path } of markers) times.set(path, (times.get(path) ?? 0) + 1)
  if (times.size <= MOST_TEXTS) return times
  throw damaged(`${file} names ${times.size} files; the texts of a revision lie in at most ${MOST_TEXTS}.`)
}

/** What a text's file says: all of it but the line feed that writing puts at its end. */
function textIn(path: string, bytes: Buffer): string {
  const text = decodeText(path, bytes, true)
  return text.endsWith('\n') ? text.slice(0, -1) : text
}
