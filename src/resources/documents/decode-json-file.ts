import { isJsonObject, type Json, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { MOST_LEVELS, parseJson } from '../../json/parse-json.ts'
import { damaged } from './damaged.ts'
import { decodeText } from './decode-text.ts'
import { typeName } from './type-name.ts'

/**
 * The object in a JSON file of any layout. What cannot be read, is no object, or has more than `maxValues`
 * values is refused with `damaged_repository` naming the file and the place; `what` is what the sentence calls the object.
 */
export async function decodeJsonFile(
  path: string,
  bytes: Buffer,
  what: string,
  maxValues = Infinity,
): Promise<JsonObject> {
  const value = parseText(path, decodeText(path, bytes, false), maxValues)
  if (isJsonObject(value)) return value
  throw damaged(`${path}: line 1, column 1: ${what} must be an object, but this is ${typeName(value)}.`)
}

function parseText(path: string, text: string, maxValues: number): Json {
  try {
    return parseJson(text, { maxDepth: MOST_LEVELS, maxValues })
  } catch (error) {
    if (error instanceof JsonTextError) throw damaged(`${path}: ${error.message}`)
    throw error
  }
}
