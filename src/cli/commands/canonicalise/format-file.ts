import {
  contentOf,
  dedupIdOf,
  encodeContent,
  encodeRow,
  generatedDedupId,
} from '../../../resources/testsets/rows/stored-row.ts'
import { canonicalJson } from '../../../json/canonical-json.ts'
import { isJsonArray, isJsonObject } from '../../../json/json.ts'
import { parseJson } from '../../../json/parse-json.ts'
import { DOCUMENT_LIMITS } from '../../../versioning/family/document-limits.ts'
import { jsonFileBytes } from '../../../versioning/family/write-json-file.ts'

/** The files in the root of a working tree that hold JSON for people to read: two spaces, a newline at the end. */
const DOCUMENTS = ['data.json', 'references.json', 'columns.json', 'revision.json']

/**
 * The bytes that a file of an artifact's working tree should have, undefined for a file that is none of ours. `path` is seen from
 * the root, with slashes. Throws an Error that says what is wrong with a file that holds no JSON, or not what it should.
 */
export async function formatFile(path: string, bytes: Buffer): Promise<Buffer | undefined> {
  if (DOCUMENTS.includes(path)) return formatDocument(path, bytes)
  if (!/^testcases\/.*\.json$/.test(path)) return undefined
  const value = parse(bytes)
  if (!isJsonObject(value)) throw new Error('it is JSON, but no object')
  if (path.endsWith('.meta.json')) return Buffer.from(`${canonicalJson(value)}\n`)
  const content = encodeContent(contentOf(value))
  return encodeRow(content, dedupIdOf(value) || generatedDedupId(content.hash))
}

function formatDocument(path: string, bytes: Buffer): Promise<Buffer> {
  const { maxBytes, maxDocumentBytes } = DOCUMENT_LIMITS
  const value = parse(bytes)
  if (isJsonObject(value) || (isJsonArray(value) && path === 'columns.json')) {
    return jsonFileBytes(value, { maxBytes: path === 'data.json' ? maxDocumentBytes : maxBytes })
  }
  throw new Error('it is JSON, but no object')
}

function parse(bytes: Buffer) {
  return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes), { maxDepth: 1000 })
}
