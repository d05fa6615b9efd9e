import { isJsonObject, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import { ownSignal } from '../../storage/sqlite/thread-signal.ts'
import { readTraceFilter } from '../query/filter/trace-filter.ts'
import { MOST_RECORD_LEVELS } from '../query/trace-page.ts'

/** Which of these records a filtering matches, one after the other. To be asked in a thread, since a match may take for ever. */
export function matchRecords(filtering: string, records: readonly string[]): boolean[] {
  const filter = readTraceFilter(parseJson(filtering, { maxDepth: MOST_RECORD_LEVELS }), [])
  return records.map((record) => {
    if (ownSignal.isEnding) throw new Error('the thread is to end')
    return ownSignal.match(() => filter.matches(readRecord(record)))
  })
}

/** A record as its filter reads it. Texts that were cut within a character are not exact JSON, and are read as they are. */
export function readRecord(text: string): JsonObject {
  try {
    const value = parseJson(text, { maxDepth: MOST_RECORD_LEVELS })
    return isJsonObject(value) ? value : {}
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error
    return JSON.parse(text) as JsonObject
  }
}
