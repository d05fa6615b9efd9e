import { Refusal } from '../../errors.ts'
import {
  ExactNumber,
  getKey,
  isJsonObject,
  type Json,
  type JsonObject,
  keysOf,
  JsonTextError,
  MOST_LEVELS,
  parseJson,
} from '../../base/json.ts'
import { ProblemCollector, typeName } from './problems.ts'

/** The refusal of an unreadable payload that came by plain git; `sentence` names the file and the place. */
export function damaged(sentence: string): Refusal {
  return new Refusal('damaged_repository', `${sentence} Commit a repaired version with git.`)
}

/**
 * The object in a JSON file of any layout. Refuses with `damaged_repository`, naming file and place, text that is not JSON, not an object,
 * or has more than `maxValues` values; `what` is the object's name in the sentence.
 */
export function decodeJsonFile(path: string, bytes: Buffer, what: string, maxValues = Infinity): JsonObject {
  const value = parsed(path, decodeText(path, bytes, false), maxValues)
  if (isJsonObject(value)) return value
  throw damaged(`${path}: line 1, column 1: ${what} must be an object, but this is ${typeName(value)}.`)
}

function parsed(path: string, text: string, maxValues: number): Json {
  try {
    return parseJson(text, { maxDepth: MOST_LEVELS, maxValues })
  } catch (error) {
    if (error instanceof JsonTextError) throw damaged(`${path}: ${error.message}`)
    throw error
  }
}

/**
 * The text of a file in strict UTF-8; refuses other bytes with `damaged_repository`, naming line and column. `keepMark` keeps a byte order
 * mark, which belongs to a source but not to JSON.
 */
export function decodeText(path: string, bytes: Buffer, keepMark: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes)
  } catch {
    throw damaged(`${path}: line ${placeOfInvalid(bytes)}: the bytes there are not valid UTF-8.`)
  }
}

/** Line and column of the first bytes that are not UTF-8: valid bytes before them encode to the same bytes again. */
function placeOfInvalid(bytes: Buffer): string {
  const again = Buffer.from(bytes.toString())
  const end = bytes.findIndex((byte, index) => byte !== again[index])
  const lines = bytes
    .subarray(0, end === -1 ? bytes.length : end)
    .toString()
    .split('\n')
  return `${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

/**
 * The document in a file's object, converted by the reader that also converts clients' documents. Refuses with `damaged_repository`, naming
 * the file and each place, what that reader would not store, and with `unsupported_format` the format of a later server.
 */
export async function decodeDocument(
  path: string,
  object: JsonObject,
  read: (value: Json, problems: ProblemCollector) => JsonObject | Promise<JsonObject>,
): Promise<JsonObject> {
  const format = formatOf(object)
  if (format !== undefined) throw unknownFormat(path, format)
  const problems = new ProblemCollector([])
  const document = await read(object, problems)
  const refusal = problems.refusal('damaged_repository')
  if (refusal) throw damaged(`${path}: ${refusal.message}.`)
  return document
}

/**
 * The first member of a file in which some objects stand for other content, with the number of the format. Data sent over REST cannot have
 * it.
 */
export const FORMAT_KEY = '@svc.format'

/** The number of a file's format; undefined if its members stand for themselves. */
export function formatOf(data: JsonObject): string | undefined {
  if (keysOf(data)[0] !== FORMAT_KEY) return undefined
  const value = getKey(data, FORMAT_KEY)
  if (typeof value === 'number') return String(value)
  return value instanceof ExactNumber ? value.literal.slice(0, 40) : undefined
}

/** The refusal of data in the format of a later server, whose markers must not be taken for data. */
export function unknownFormat(path: string, format: string): Refusal {
  return new Refusal(
    'unsupported_format',
    `${path} is of the format ${format}, which this server does not know: its first member is "${FORMAT_KEY}". Read it with a later ` +
      `version of the server, or leave that member out where somebody wrote it by hand.`,
  )
}
