import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { Refusal } from '../../errors.ts'
import { cleanText, filesBesideWorkflow, WORKFLOW_DATA_FILE } from '../../registry/workflows.ts'
import { contentOf, dedupIdOf, encodeContent, encodeRow, generatedDedupId } from '../../registry/testsets.ts'
import { canonicalJson, isJsonArray, isJsonObject, parseJson } from '../../base/json.ts'
import { DOCUMENT_LIMITS, jsonFileBytes } from '../../registry/families.ts'

/** Files in the root of a working tree with JSON for people: two spaces, a newline at the end. */
const DOCUMENTS = ['data.json', 'references.json', 'columns.json', 'revision.json']

/**
 * The bytes that a file of an artifact's working tree should have; undefined for a file that is not part of the format. `path` is relative to
 * the root, with slashes. Throws an Error that says what is wrong with the file.
 */
function formatFile(path: string, bytes: Buffer): Buffer | undefined {
  if (DOCUMENTS.includes(path)) return formatDocument(path, bytes)
  if (!/^testcases\/.*\.json$/.test(path)) return undefined
  const value = parse(bytes)
  if (!isJsonObject(value)) throw new Error('it is JSON, but no object')
  if (path.endsWith('.meta.json')) return Buffer.from(`${canonicalJson(value)}\n`)
  const content = encodeContent(contentOf(value))
  return encodeRow(content, dedupIdOf(value) || generatedDedupId(content.hash))
}

function formatDocument(path: string, bytes: Buffer): Buffer {
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

const USAGE = `Write the JSON files of a clone as the service does, so that a push of them is taken.

  branchpoint canonicalise DIR

Rows of a testset (testcases/…) become canonical JSON and a newline, and get a testcase_dedup_id if they have none;
data.json, references.json, columns.json and revision.json are indented by two spaces. Texts of a prompt lose a byte order
mark, and end lines with a line feed alone. Nothing else is touched. Each file that was changed is named; a file that holds no JSON is named too, and makes the exit code 1.

Example:
  branchpoint canonicalise ../cities`

export const canonicaliseCommand: Command = { usage: USAGE, run }

async function run(args: readonly string[], { folder, print }: Shell): Promise<number> {
  const { positionals } = readArguments(args, VERBS.canonicalise.options, { usage: USAGE })
  const [dir, ...rest] = positionals
  if (dir === undefined) throw new UsageError('DIR is missing.', USAGE)
  if (rest.length > 0) throw new UsageError(`"${rest[0]}" is one word too many.`, USAGE)
  const root = resolve(folder, dir)
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new Refusal('invalid_request', `There is no folder ${root}.`)
  let [changed, unreadable] = [0, 0]
  for (const path of jsonFiles(root)) {
    const bytes = readFileSync(join(root, path))
    try {
      const formatted = formatFile(path, bytes)
      if (!formatted || formatted.equals(bytes)) continue
      writeFileSync(join(root, path), formatted)
      changed++
      print(path)
    } catch (error) {
      unreadable++
      process.stderr.write(`${path}: ${error instanceof Error ? error.message : String(error)}\n`)
    }
  }
  for (const path of textFiles(root)) {
    const bytes = readFileSync(join(root, path))
    const cleaned = cleanText(bytes)
    if (cleaned.equals(bytes)) continue
    writeFileSync(join(root, path), cleaned)
    changed++
    print(path)
  }
  print(`${changed} files changed${unreadable > 0 ? `, ${unreadable} left that hold no JSON` : ''}`)
  return unreadable > 0 ? 1 : 0
}

/** The files with the texts of a prompt; other files in the tree are left alone. */
function textFiles(root: string): string[] {
  const main = join(root, WORKFLOW_DATA_FILE)
  if (!statSync(main, { throwIfNoEntry: false })?.isFile()) return []
  // A file that cannot be read was reported above.
  return [...filesNamedBy(readFileSync(main)).keys()].filter(
    (path) => path.includes('/') && lstatSync(join(root, path), { throwIfNoEntry: false })?.isFile(),
  )
}

function filesNamedBy(main: Buffer): ReadonlyMap<string, number> {
  try {
    return filesBesideWorkflow(main)
  } catch {
    return new Map()
  }
}

/** The JSON files of the root and the files of rows, relative to the root. */
function* jsonFiles(root: string): Generator<string> {
  for (const entry of readdirSync(root, { withFileTypes: true })) {
    if (entry.isFile() && entry.name.endsWith('.json')) yield entry.name
    if (!entry.isDirectory() || entry.name !== 'testcases') continue
    for (const path of readdirSync(join(root, entry.name), { recursive: true, encoding: 'utf8' }).sort()) {
      if (path.endsWith('.json') && statSync(join(root, entry.name, path)).isFile()) {
        yield `testcases/${path.replaceAll('\\', '/')}`
      }
    }
  }
}
