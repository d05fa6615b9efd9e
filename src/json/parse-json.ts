import { TimeSlice } from '../scheduling/cooperative.ts'
import type { Json } from './json.ts'
import { JsonReading, type ParseJsonOptions } from './json-reading.ts'

/**
 * Reads one RFC 8259 text into a value that `stringifyJson` writes back digit for digit and key for key. Throws
 * `JsonTextError` for what is not JSON, a key given twice in one object, a lone surrogate (raw or escaped, in a key or a
 * value), too many levels and too many values, as soon as it meets them. Answers to interface 2.9; `JSON.parse` would change each of
 * these without a word.
 */
export function parseJson(text: string, options: ParseJsonOptions = {}): Json {
  const reading = new JsonReading(text, options)
  reading.run(Infinity, Infinity)
  return reading.result
}

/** The same; a text of more than some 100 KB is read in slices. */
export function parseLargeJson(
  text: string,
  options: ParseJsonOptions = {},
  stop?: AbortSignal,
): Json | Promise<Json> {
  return text.length <= LARGE_TEXT
    ? parseJson(text, options)
    : parseInSlices(text, options, new TimeSlice(stop))
}

async function parseInSlices(text: string, options: ParseJsonOptions, slice: TimeSlice): Promise<Json> {
  // One very long string is read in one go; what brought the text took its time, too.
  await slice.rest()
  const reading = new JsonReading(text, options)
  while (!reading.run(VALUES_BETWEEN_CLOCK_READS, STEP_LENGTH)) if (slice.isOver) await slice.rest()
  return reading.result
}

/** The deepest nesting that a server may be told to take (`MAX_BODY_DEPTH`), so that what was stored can be read. */
export const MOST_LEVELS = 1000

/** A text of so many UTF-16 units is read in a millisecond or two. */
const LARGE_TEXT = 100_000

const VALUES_BETWEEN_CLOCK_READS = 1000
const STEP_LENGTH = 100_000
