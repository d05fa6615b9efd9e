import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { PayloadFile } from '../../versioning/document-family.ts'
import { damaged } from './damaged.ts'
import { decodeText } from './decode-text.ts'
import { typeName } from './type-name.ts'

/** A file that holds an object as people read it (design 1): two-space JSON, keys in their order, a newline. */
export function encodeJsonFile(path: string, object: JsonObject): PayloadFile {
  return { path, bytes: Buffer.from(`${stringifyJson(object, 2)}\n`) }
}

/**
 * The object in a JSON file of any layout. What cannot be read, or is no object, is refused with `damaged_repository`
 * naming the file and the place; `what` is what the sentence calls the object.
 */
export function decodeJsonFile(path: string, bytes: Buffer, what: string): JsonObject {
  const value = parseText(path, decodeText(path, bytes, false))
  if (isJsonObject(value)) return value
  throw damaged(`${path}: line 1, column 1: ${what} must be an object, but this is ${typeName(value)}.`)
}

/** The deepest nesting that a server may be told to take (`MAX_BODY_DEPTH`), so that what was stored can be read. */
const MOST_LEVELS = 1000

function parseText(path: string, text: string): Json {
  try {
    return parseJson(text, { maxDepth: MOST_LEVELS })
  } catch (error) {
    if (error instanceof JsonTextError) throw damaged(`${path}: ${error.message}`)
    throw error
  }
}
