import type { Oid, TreeEntry } from '../../git/objects.ts'
import { isJsonArray, parseJson, stringifyJson } from '../../base/json.ts'
import type { ObjectSink, ObjectReader } from '../payload/tree-files.ts'
import { readBytes, writeFile } from '../payload/tree-files.ts'
import { positionPath, type RowPosition } from './rows/row-position.ts'
import type { StoredTestset } from './testset-payload.ts'

/** The folder of rows, and the file of columns, in the root of a testset's commit (interface 15.5). */
export const ROWS_FOLDER = 'testcases'
const COLUMNS_FILE = 'columns.json'

/** The path of the row at this position, from the root: `testcases/00/00/05.json`. */
export function rowPath(position: RowPosition): string {
  return `${ROWS_FOLDER}/${positionPath(position)}.json`
}

/** Whether a name in the root is one of the payload's. */
export function isTestsetFile(name: string): boolean {
  return name === ROWS_FOLDER || name === COLUMNS_FILE
}

/** The entries of the root for these rows and columns; a testset without rows has no folder for them. */
export function writeTestsetEntries(
  sink: ObjectSink,
  tree: Oid | undefined,
  columns: readonly string[],
): TreeEntry[] {
  const text = `${stringifyJson(columns, 2)}\n`
  const folder: TreeEntry[] = tree === undefined ? [] : [{ mode: '40000', name: ROWS_FOLDER, oid: tree }]
  return [writeFile(sink, COLUMNS_FILE, Buffer.from(text)), ...folder]
}

/** The testset in a root's entries; undefined if there is neither rows nor columns. Throws an Error that says what is wrong. */
export async function readTestset(
  source: ObjectReader,
  entries: readonly TreeEntry[],
): Promise<StoredTestset | undefined> {
  const tree = rowsIn(entries)
  const file = entries.find(({ name, mode }) => name === COLUMNS_FILE && mode.startsWith('100'))
  if (tree === undefined && !file) return undefined
  return {
    kind: 'stored',
    tree,
    columns: file ? decodeColumns(await readBytes(source, file.oid, 'blob')) : [],
  }
}

/** The tree of rows in a root's entries. */
export function rowsIn(entries: readonly TreeEntry[]): Oid | undefined {
  return entries.find(({ name, mode }) => name === ROWS_FOLDER && mode === '40000')?.oid
}

function decodeColumns(bytes: Buffer): readonly string[] {
  const columns = parseJson(bytes.toString('utf8'))
  if (isJsonArray(columns) && columns.every((column) => typeof column === 'string')) return columns
  throw new Error(`${COLUMNS_FILE} must be an array of strings`)
}
