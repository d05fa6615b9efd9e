import { getKey, withKey, type JsonObject } from '../../json/json.ts'
import type { FileReader, PayloadFile } from '../../versioning/family/document-family.ts'
import type { Warning } from '../../versioning/family/family.ts'
import { damaged } from '../documents/damaged.ts'
import { decodeText } from '../documents/decode-text.ts'
import { decodeJsonFile } from '../documents/decode-json-file.ts'
import { scriptFile, scriptFiles } from './script-file.ts'
import { mentionsIn, readTexts } from './texts/read-texts.ts'
import { isTextPath, TEXT_FOLDERS } from './texts/text-names.ts'

/** The file that is a workflow's data, but for a source in a file of its own (interface 15.5). */
export const WORKFLOW_DATA_FILE = 'data.json'

/** Whether a path of a commit's tree is one that the functions below write and read, or a folder of texts. */
export function isWorkflowFile(path: string): boolean {
  return path === WORKFLOW_DATA_FILE || scriptFiles.includes(path) || TEXT_FOLDERS.includes(path)
}

/**
 * The files that hold a workflow's data (interface 15.5): `data.json`, two-space JSON with its keys in their order, and the
 * source in a file of its own when `runtime` says the language; `script` then holds the name of that file.
 */
export function encodeWorkflow(data: JsonObject | undefined): readonly PayloadFile[] {
  if (data === undefined) return []
  const name = scriptFile(getKey(data, 'runtime'))
  const script = getKey(data, 'script')
  if (name === undefined || typeof script !== 'string') return [{ path: WORKFLOW_DATA_FILE, content: data }]
  return [
    { path: WORKFLOW_DATA_FILE, content: withKey(data, 'script', name) },
    { path: name, content: Buffer.from(script) },
  ]
}

/**
 * The data in a commit's tree, undefined if there is no `data.json`. A source file wins over a source inside
 * `data.json` and comes last when that has no `script` key, so that either may be changed with plain git; texts may lie in files of their
 * own (interface 7.16). What cannot be read is refused with `damaged_repository` naming the file and the place, a format of later servers with `unsupported_format`.
 */
export async function decodeWorkflow(read: FileReader, maxValues?: number): Promise<JsonObject | undefined> {
  const bytes = await read(WORKFLOW_DATA_FILE)
  if (bytes === undefined) return undefined
  const stored = await decodeJsonFile(WORKFLOW_DATA_FILE, bytes, "a workflow's data", maxValues)
  const { data } = await readTexts(WORKFLOW_DATA_FILE, stored, read)
  const name = await sourceName(data, read)
  if (name === undefined) return data
  const source = await read(name)
  if (source !== undefined) return withKey(data, 'script', decodeText(name, source, true))
  if (getKey(data, 'script') !== name) return data
  throw damaged(
    `${WORKFLOW_DATA_FILE} says that the script is in ${name}, but there is no such file beside it.`,
  )
}

/** Of the bytes of `data.json`: the files that hold its texts, by how often it names them, and those that may hold its source. */
export async function filesBesideWorkflow(main: Buffer): Promise<ReadonlyMap<string, number>> {
  const stored = await decodeJsonFile(WORKFLOW_DATA_FILE, main, "a workflow's data")
  return new Map([
    ...scriptFiles.map((name) => [name, 1] as const),
    ...(await mentionsIn(WORKFLOW_DATA_FILE, stored)),
  ])
}

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** What editors leave in the file of a text that nobody sees, and every model gets. */
export function textWarnings(path: string, bytes: Buffer): readonly Warning[] {
  if (!isTextPath(path)) return []
  const warning = (code: string, what: string): Warning => ({
    code,
    message: `${path} ${what}, and is stored so: it is a part of the text that a model gets. branchpoint canonicalise takes it out.`,
  })
  return [
    ...(hasMark(bytes) ? [warning('byte_order_mark', 'begins with a byte order mark')] : []),
    ...(bytes.includes('\r\n') ? [warning('carriage_returns', 'ends lines with CR LF')] : []),
  ]
}

/** The bytes of a text's file without that. */
export function cleanText(bytes: Buffer): Buffer {
  const text = hasMark(bytes) ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
  // One character a byte, so that what is no UTF-8 stays as it is.
  return text.includes('\r\n')
    ? Buffer.from(text.toString('latin1').replaceAll('\r\n', '\n'), 'latin1')
    : text
}

function hasMark(bytes: Buffer): boolean {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)
}

/** The file that holds the source: the runtime's; without a runtime the one named, else the first that is there. */
async function sourceName(data: JsonObject, read: FileReader): Promise<string | undefined> {
  const own = scriptFile(getKey(data, 'runtime'))
  if (own !== undefined) return own
  const named = getKey(data, 'script')
  const there: string[] = []
  for (const name of scriptFiles) if (await read(name)) there.push(name)
  return there.find((name) => name === named) ?? there[0]
}
