import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Oid } from '../../git/object.ts'
import type { TreeEntry } from '../../git/tree.ts'
import { canonicalJson } from '../../json/canonical-json.ts'
import { entriesOf, isJsonObject } from '../../json/json.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import type { TestsetLimits } from './row-collector.ts'
import type { RowFolder } from './row-folder.ts'
import { decodeRowFolder, emptyRowFolder } from './row-folder.ts'
import { rowKeys } from './row-index.ts'
import { DEEPEST_POSITION } from './row-position.ts'
import { countRows } from './row-tree.ts'
import { decodeRow, dedupIdOf } from './stored-row.ts'
import { readBlobs } from './stored-rows.ts'
import { ROWS_FOLDER, rowPath, rowsIn } from './testset-tree.ts'

/**
 * Looks at the rows that a push brought: throws an Error that names the file unless each is canonical JSON and a newline with a
 * dedup id of its own, and every file in the folder of rows is a row or what belongs to one. What lies where it lay in the
 * parent commit was looked at before. Costs the folders and blobs that changed, and a comparison of 32 bits a row.
 */
export async function checkRows(
  source: ObjectSource,
  entries: readonly TreeEntry[],
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<void> {
  const other = entries.find(({ name, mode }) => name === ROWS_FOLDER && mode !== '40000')
  if (other) throw new Error(`${ROWS_FOLDER} is a file, and must be the folder of rows`)
  const tree = rowsIn(entries)
  if (tree === undefined || tree === rowsIn(before)) return
  // First of all: a tree may name one folder again and again, and walking it would never end.
  if ((await countRows(source, tree, new Map())) > limits.maxRows) {
    throw new Error(
      `${ROWS_FOLDER} holds more than ${limits.maxRows} rows, which is the most a testset may have`,
    )
  }
  const check = { source, limits, seen: new Set<string>() }
  await checkFolder(check, tree, rowsIn(before), '')
  await checkDedupIds(source, tree)
}

interface Check {
  readonly source: ObjectSource
  readonly limits: TestsetLimits
  /** Folders, by how deep they hang. */
  readonly seen: Set<string>
}

async function checkFolder(
  check: Check,
  tree: Oid,
  before: Oid | undefined,
  position: string,
): Promise<void> {
  const depth = position.length
  const key = `${tree} ${depth}`
  if (tree === before || check.seen.has(key)) return
  check.seen.add(key)
  const { source } = check
  const folder = decodeRowFolder(await readBytes(source, tree, 'tree'))
  const old =
    before === undefined ? emptyRowFolder() : decodeRowFolder(await readBytes(source, before, 'tree'))
  checkNames(folder, position)
  await checkBlobs(check, folder, old, position)
  // A folder has up to 255 rows; then others have their turn.
  await nextTurn()
  for (const [byte, below] of folder.folders.entries()) {
    if (below === undefined) continue
    const path = position + String.fromCharCode(byte)
    if (depth + 1 >= DEEPEST_POSITION) throw new Error(`${folderPath(path)} lies too deep for rows`)
    await checkFolder(check, below, old.folders[byte], path)
  }
}

function checkNames({ rows, metas, folders, others }: RowFolder, position: string): void {
  const [other] = others
  if (other) {
    throw new Error(
      `${folderPath(position)}/${other.key} is no place for a row: its name must be two lower-case hex digits and .json, ` +
        `from 01.json to ff.json, and that of its flags, tags and meta 01.meta.json`,
    )
  }
  const lonely = metas.findIndex((meta, byte) => meta !== undefined && rows[byte] === undefined)
  if (lonely >= 0) {
    const path = rowPath(position + String.fromCharCode(lonely))
    throw new Error(`${path.replace(/json$/, 'meta.json')} belongs to ${path}, which is not there`)
  }
  const isEmpty = [rows, folders].every((list) => list.every((oid) => oid === undefined))
  if (isEmpty) throw new Error(`${folderPath(position)} holds no rows; remove the folder`)
}

/** Of a folder: at most 255 rows, and what belongs to them. */
async function checkBlobs(
  { source, limits }: Check,
  folder: RowFolder,
  old: RowFolder,
  position: string,
): Promise<void> {
  const [rows, metas] = (['rows', 'metas'] as const).map((kind) =>
    [...folder[kind].entries()].flatMap(([byte, oid]) =>
      oid === undefined || oid === old[kind][byte]
        ? []
        : [{ oid, path: rowPath(position + String.fromCharCode(byte)) }],
    ),
  )
  for (const { path, bytes } of await withBytes(source, rows ?? [])) checkRow(path, bytes, limits)
  for (const { path, bytes } of await withBytes(source, metas ?? [])) {
    checkMeta(path.replace(/json$/, 'meta.json'), bytes, limits)
  }
}

async function withBytes(
  source: ObjectSource,
  files: readonly { readonly oid: Oid; readonly path: string }[],
) {
  const blobs = await readBlobs(
    source,
    files.map(({ oid }) => oid),
  )
  return files.map(({ path }, index) => ({ path, bytes: blobs[index] ?? Buffer.alloc(0) }))
}

function checkRow(path: string, bytes: Buffer, { maxRowBytes }: TestsetLimits): void {
  assertShort(path, bytes, maxRowBytes)
  const data = decodeRow(bytes, () => path)
  if ((dedupIdOf(data) ?? '') === '') {
    throw new Error(`${path} has no testcase_dedup_id, a text that no other row has. ${REMEDY}`)
  }
  assertCanonical(path, bytes, canonicalJson(data))
}

function checkMeta(path: string, bytes: Buffer, { maxRowBytes }: TestsetLimits): void {
  assertShort(path, bytes, maxRowBytes)
  const data = decodeRow(bytes, () => path)
  for (const [key, value] of entriesOf(data)) {
    if (['flags', 'tags', 'meta'].includes(key) && isJsonObject(value)) continue
    throw new Error(
      `${path} may hold flags, tags and meta, each an object, and nothing else; look at ${JSON.stringify(key)}`,
    )
  }
  assertCanonical(path, bytes, canonicalJson(data))
}

function assertShort(path: string, { length }: Buffer, most: number): void {
  if (length > most) throw new Error(`${path} has ${length} bytes; a row may have ${most}`)
}

function assertCanonical(path: string, bytes: Buffer, canonical: string): void {
  if (bytes.equals(Buffer.from(`${canonical}\n`))) return
  throw new Error(
    `${path} is not canonical JSON (RFC 8785) and one newline, which its id depends on. ${REMEDY}`,
  )
}

const REMEDY = 'Write it so with npm run fmt -- DIR, where DIR is your clone, and amend the commit'

/** Rows are joined on their dedup ids (ruling 5.2), so no two of a revision may share one. */
async function checkDedupIds(source: ObjectSource, tree: Oid): Promise<void> {
  const paths = new Map<string, string>()
  const twins = await rowKeys.twins(source, tree)
  const blobs = await readBlobs(
    source,
    twins.map(({ oid }) => oid),
  )
  for (const [index, { position }] of twins.entries()) {
    const path = rowPath(position)
    const id = dedupIdOf(decodeRow(blobs[index] ?? Buffer.alloc(0), () => path)) ?? ''
    const other = paths.get(id)
    if (other !== undefined && other !== path) {
      throw new Error(
        `${path} and ${other} have the same testcase_dedup_id, ${JSON.stringify(id)}; give one of them another`,
      )
    }
    paths.set(id, path)
  }
}

function folderPath(position: string): string {
  return [
    ROWS_FOLDER,
    ...Array.from(position, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')),
  ].join('/')
}
