import { Refusal } from '../../errors.ts'
import { getKey, isJsonObject, withKey, type Json, type JsonObject } from '../../json/json.ts'
import { JsonTextError } from '../../json/json-text-error.ts'
import { parseJson } from '../../json/parse-json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { PayloadFile } from '../../versioning/document-family.ts'
import { scriptFile, scriptFiles } from './script-file.ts'
import { typeName } from './type-name.ts'

/** Whether a path of a commit's tree is one that the functions below write and read. */
export function isWorkflowFile(path: string): boolean {
  return path === DATA_FILE || scriptFiles.includes(path)
}

/**
 * The files that hold a workflow's data (design 1): `data.json`, two-space JSON with its keys in their order, and the
 * source in a file of its own when `runtime` says the language; `script` then holds the name of that file.
 */
export function encodeWorkflow(data: JsonObject | undefined): readonly PayloadFile[] {
  if (data === undefined) return []
  const name = scriptFile(getKey(data, 'runtime'))
  const script = getKey(data, 'script')
  if (name === undefined || typeof script !== 'string') return [dataFile(data)]
  return [dataFile(withKey(data, 'script', name)), { path: name, bytes: Buffer.from(script) }]
}

/**
 * The data in a commit's tree, undefined if there is no `data.json`. A source file wins over a source inside
 * `data.json` and comes last when that has no `script` key, so that either may be changed with plain git. What cannot
 * be read is refused with `damaged_repository` naming the file and the place.
 */
export function decodeWorkflow(read: (path: string) => Buffer | undefined): JsonObject | undefined {
  const bytes = read(DATA_FILE)
  if (bytes === undefined) return undefined
  const data = parseDataFile(decodeText(DATA_FILE, bytes, false))
  const name = sourceName(data, read)
  if (name === undefined) return data
  const source = read(name)
  if (source !== undefined) return withKey(data, 'script', decodeText(name, source, true))
  if (getKey(data, 'script') !== name) return data
  throw damaged(`${DATA_FILE} says that the script is in ${name}, but there is no such file beside it.`)
}

const DATA_FILE = 'data.json'

function dataFile(data: JsonObject): PayloadFile {
  return { path: DATA_FILE, bytes: Buffer.from(`${stringifyJson(data, 2)}\n`) }
}

/** Strict UTF-8. A byte order mark belongs to a source, and to nobody in front of JSON. */
function decodeText(path: string, bytes: Buffer, keepMark: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: keepMark }).decode(bytes)
  } catch {
    throw damaged(`${path}: line ${placeOfInvalid(bytes)}: the bytes there are not valid UTF-8.`)
  }
}

/** Line and column of the first bytes that are no UTF-8: what is valid before them encodes to the same bytes again. */
function placeOfInvalid(bytes: Buffer): string {
  const again = Buffer.from(bytes.toString())
  const end = bytes.findIndex((byte, index) => byte !== again[index])
  const lines = bytes
    .subarray(0, end === -1 ? bytes.length : end)
    .toString()
    .split('\n')
  return `${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`
}

function parseDataFile(text: string): JsonObject {
  const data = parseText(text)
  if (isJsonObject(data)) return data
  throw damaged(
    `${DATA_FILE}: line 1, column 1: a workflow's data must be an object, but this is ${typeName(data)}.`,
  )
}

function parseText(text: string): Json {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonTextError) throw damaged(`${DATA_FILE}: ${error.message}`)
    throw error
  }
}

/** The file that holds the source: the runtime's; without a runtime the one named, else the first that is there. */
function sourceName(data: JsonObject, read: (path: string) => Buffer | undefined): string | undefined {
  const own = scriptFile(getKey(data, 'runtime'))
  if (own !== undefined) return own
  const named = getKey(data, 'script')
  const there = scriptFiles.filter((name) => read(name) !== undefined)
  return there.find((name) => name === named) ?? there[0]
}

function damaged(sentence: string): Refusal {
  return new Refusal('damaged_repository', `${sentence} Commit a repaired version with git.`)
}
