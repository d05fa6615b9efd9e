import { yieldToEventLoop } from '../../../base/scheduling.ts'
import type { Oid } from '../../../git/objects.ts'
import { canonicalJson, type JsonObject, entriesOf, isJsonObject } from '../../../base/json.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import type { RowFolder } from './row-folder.ts'
import { decodeRowFolder, emptyRowFolder } from './row-folder.ts'
import { keyOfDedupId } from '../dedup/row-keys.ts'
import { DEEPEST_POSITION } from './row-position.ts'
import { MOST_ROW_VALUES } from '../import/input-row.ts'
import { dedupIdOf, objectIn } from './stored-row.ts'
import { readBlobs } from './stored-rows.ts'
import { ROWS_FOLDER, rowPath } from '../testset-tree.ts'

/** A problem of a file or folder of rows: a sentence that names it, without a full stop. */
export interface RowProblem {
  readonly sentence: string
  /** Whether `branchpoint canonicalise` fixes it. */
  readonly isLayout?: true
}

/** How rows are checked, in one revision or in a series of them. */
export interface RowLook {
  readonly source: ObjectReader
  /** Folders already checked, with their depth; they are skipped. */
  readonly seen: Set<string>
  readonly maxRowBytes?: number
  /** Receives the key of each dedup id that is checked. */
  readonly dedupKeys?: Set<number>
}

/**
 * Yields the reasons why rows in a `testcases` tree differ from those that REST writes (interface 15.5): each file must be a row, that is,
 * canonical JSON with a dedup id and a newline, or a row's flags, tags and meta. Skips files that are unchanged since `before`.
 */
export async function* rowProblems(
  look: RowLook,
  tree: Oid,
  before: Oid | undefined,
): AsyncGenerator<RowProblem> {
  yield* folderProblems(look, tree, before, '')
}

async function* folderProblems(
  look: RowLook,
  tree: Oid,
  before: Oid | undefined,
  position: string,
): AsyncGenerator<RowProblem> {
  const { source, seen } = look
  const key = `${tree} ${position.length}`
  if (tree === before || seen.has(key)) return
  seen.add(key)
  const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
  const old =
    before === undefined ? emptyRowFolder() : decodeRowFolder(await readBytes(source, before, 'tree'))
  yield* nameProblems(folder, position)
  yield* blobProblems(look, folder, old, position)
  // Yield after each folder, which has up to 255 rows.
  await yieldToEventLoop()
  for (const [byte, below] of folder.folders.entries()) {
    if (below === undefined) continue
    const path = position + String.fromCharCode(byte)
    if (path.length >= DEEPEST_POSITION) yield { sentence: `${folderPath(path)} lies too deep for rows` }
    else yield* folderProblems(look, below, old.folders[byte], path)
  }
}

function* nameProblems({ rows, metas, folders, others }: RowFolder, position: string): Generator<RowProblem> {
  for (const { key } of others) {
    yield {
      sentence:
        `${folderPath(position)}/${key} is no place for a row: its name must be two lower-case hex digits and .json, ` +
        `from 01.json to ff.json, and that of its flags, tags and meta 01.meta.json`,
    }
  }
  for (const [byte, meta] of metas.entries()) {
    if (meta === undefined || rows[byte] !== undefined) continue
    const path = rowPath(position + String.fromCharCode(byte))
    yield { sentence: `${metaPath(path)} belongs to ${path}, which is not there` }
  }
  const isEmpty = [rows, folders].every((list) => list.every((oid) => oid === undefined))
  if (isEmpty) yield { sentence: `${folderPath(position)} holds no rows; remove the folder` }
}

/** Checks the blobs of one folder: at most 255 rows and their metadata. */
async function* blobProblems(
  look: RowLook,
  folder: RowFolder,
  old: RowFolder,
  position: string,
): AsyncGenerator<RowProblem> {
  for (const [kind, problemsOf] of [
    ['rows', problemsOfRow],
    ['metas', problemsOfMeta],
  ] as const) {
    const files = [...folder[kind].entries()].flatMap(([byte, oid]) =>
      oid === undefined || oid === old[kind][byte]
        ? []
        : [{ oid, path: rowPath(position + String.fromCharCode(byte)) }],
    )
    const blobs = await readBlobs(
      look.source,
      files.map(({ oid }) => oid),
    )
    for (const [index, { path }] of files.entries())
      yield* problemsOf(look, kind === 'metas' ? metaPath(path) : path, blobs[index] ?? Buffer.alloc(0))
  }
}

function* problemsOfRow(look: RowLook, path: string, bytes: Buffer): Generator<RowProblem> {
  const data = yield* rowIn(look, path, bytes)
  if (!data) return
  const dedupId = dedupIdOf(data) ?? ''
  if (dedupId === '') {
    yield { sentence: `${path} has no testcase_dedup_id, a text that no other row has`, isLayout: true }
  }
  look.dedupKeys?.add(keyOfDedupId(dedupId))
  yield* layoutProblems(path, bytes, data)
}

function* problemsOfMeta(look: RowLook, path: string, bytes: Buffer): Generator<RowProblem> {
  const data = yield* rowIn(look, path, bytes)
  if (!data) return
  for (const [key, value] of entriesOf(data)) {
    if (['flags', 'tags', 'meta'].includes(key) && isJsonObject(value)) continue
    yield {
      sentence: `${path} may hold flags, tags and meta, each an object, and nothing else; look at ${JSON.stringify(key)}`,
    }
  }
  yield* layoutProblems(path, bytes, data)
}

function* rowIn(
  { maxRowBytes = Infinity }: RowLook,
  path: string,
  bytes: Buffer,
): Generator<RowProblem, JsonObject | undefined> {
  if (bytes.length > maxRowBytes) {
    yield { sentence: `${path} has ${bytes.length} bytes; a row may have ${maxRowBytes}` }
    return undefined
  }
  // Verification checks existing rows of any size.
  const maxValues = maxRowBytes === Infinity ? Infinity : MOST_ROW_VALUES
  const data = objectIn(bytes, () => path, maxValues)
  if (typeof data !== 'string') return data
  yield { sentence: data }
  return undefined
}

function* layoutProblems(path: string, bytes: Buffer, data: JsonObject): Generator<RowProblem> {
  if (bytes.equals(Buffer.from(`${canonicalJson(data)}\n`))) return
  yield {
    sentence: `${path} is not canonical JSON (RFC 8785) and one newline, which its id depends on`,
    isLayout: true,
  }
}

function metaPath(path: string): string {
  return path.replace(/json$/, 'meta.json')
}

function folderPath(position: string): string {
  return [
    ROWS_FOLDER,
    ...Array.from(position, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')),
  ].join('/')
}
