import type { Oid } from '../../git/objects.ts'
import { type JsonObject, entriesOf, fromEntries, getKey, stringifyJson } from '../../base/json.ts'
import type { ObjectReader } from '../payload/tree-files.ts'
import { readBytes } from '../payload/tree-files.ts'
import type { FileType } from './files/file-type.ts'
import { csvHeader, csvRow } from './csv-line.ts'
import { allColumns } from './rows/listed-columns.ts'
import type { RowMeta } from './import/input-row.ts'
import { DEDUP_COLUMN } from './import/input-row.ts'
import { decodeRow, decodeRowMeta, inColumnOrder } from './rows/stored-row.ts'
import type { RowBytes } from './rows/stored-rows.ts'
import { readBlobs, rowBytesOf } from './rows/stored-rows.ts'
import { OID_BYTES, scanRowFolder } from './rows/row-folder.ts'
import { DEEPEST_POSITION } from './rows/row-position.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import { testcaseId } from './testcase.ts'
import type { StoredTestset } from './testset-payload.ts'
import { rowPath } from './testset-tree.ts'

/** What to export, and how. */
export interface Export {
  readonly source: ObjectReader
  readonly testset: StoredTestset
  readonly testsetId: string
  readonly type: FileType
  /** Whether to escape formulas; see `csvLine`. */
  readonly escapeFormulas: boolean
  /** Whether a CSV file begins with a byte order mark, which tells Excel that it is UTF-8. */
  readonly bom?: boolean
  /** Aborts the export when the client is gone. */
  readonly gone?: AbortSignal
}

/**
 * Writes the rows of a testset as a file, in pieces: the columns in order, then `__id__` and `__dedup_id__`,
 * and `__flags__`, `__tags__` and `__meta__` where rows have them (interface 8.28). Uploading the file gives
 * equal testcases in the same order (interface 8.17).
 */
export function writeTestsetFile(wanted: Export): AsyncGenerator<Buffer> {
  return wanted.type === 'csv' ? writeCsv(wanted) : writeJson(wanted)
}

async function* writeCsv({
  source,
  testset,
  testsetId,
  escapeFormulas,
  bom = false,
  gone,
}: Export): AsyncGenerator<Buffer> {
  const slice = new TimeSlice(gone)
  const metas = await metaColumns(source, testset, slice)
  const columns = (await allColumns(source, testset, slice)).filter((column) => column !== DEDUP_COLUMN)
  const options = { escapeFormulas }
  const isUnknown = testset.tree === undefined && columns.length === 0
  const names = isUnknown ? ['__dedup_id__'] : [...columns, '__id__', '__dedup_id__', ...metas]
  const header = `${bom ? '\ufeff' : ''}${csvHeader(names, options)}`
  const lineOf = ({ row, data: bytes, meta }: RowBytes): string => {
    const data = decodeRow(bytes, () => rowPath(row.position))
    const members = meta ? new Map(metaMembers(decodeRowMeta(meta))) : NO_MEMBERS
    return csvRow(
      [
        ...columns.map((column) => getKey(data, column)),
        testcaseId(row.oid, testsetId),
        getKey(data, DEDUP_COLUMN),
        ...metas.map((column) => members.get(column)),
      ],
      options,
    )
  }
  yield* inPieces(rowBytesOf(source, testset.tree, {}, slice), slice, { before: header, lineOf })
}

const NO_MEMBERS: ReadonlyMap<string, JsonObject> = new Map()

async function* writeJson({ source, testset, testsetId, type, gone }: Export): AsyncGenerator<Buffer> {
  const slice = new TimeSlice(gone)
  const isArray = type === 'json'
  let lead = ''
  const lineOf = (row: RowBytes): string => {
    const line = `${lead}${stringifyJson(fileRow(row, testset, testsetId))}${isArray ? '' : '\n'}`
    lead = isArray ? ',' : ''
    return line
  }
  const rows = rowBytesOf(source, testset.tree, {}, slice)
  yield* inPieces(rows, slice, isArray ? { before: '[', lineOf, after: ']' } : { lineOf })
}

/** The parts of a file before, for and after the rows. */
interface FileLayout {
  readonly before?: string
  readonly lineOf: (row: RowBytes) => string
  readonly after?: string
}

const MAX_PIECE_CHARACTERS = 1024 ** 2

/**
 * Yields the file in pieces, about one per batch of rows. The first piece includes rows, so a failure to read
 * them still becomes an error response.
 */
async function* inPieces(
  batches: AsyncIterable<readonly RowBytes[]>,
  slice: TimeSlice,
  { before = '', lineOf, after = '' }: FileLayout,
): AsyncGenerator<Buffer> {
  let text = before
  for await (const batch of batches) {
    for (const row of batch) {
      if (slice.isOver) await slice.rest()
      text += lineOf(row)
      if (text.length < MAX_PIECE_CHARACTERS) continue
      yield Buffer.from(text)
      text = ''
    }
    if (text !== '') yield Buffer.from(text)
    text = ''
  }
  text += after
  if (text !== '') yield Buffer.from(text)
}

/** A row with its metadata columns, and the dedup id under its name in files. */
function fileRow(
  { row, data: bytes, meta }: RowBytes,
  { columns }: StoredTestset,
  testsetId: string,
): JsonObject {
  const data = inColumnOrder(
    decodeRow(bytes, () => rowPath(row.position)),
    columns,
  )
  const members = entriesOf(data).filter(([key]) => key !== DEDUP_COLUMN)
  const dedupId = getKey(data, DEDUP_COLUMN)
  return fromEntries([
    ...members,
    ['__id__', testcaseId(row.oid, testsetId)],
    ...(dedupId === undefined ? [] : [['__dedup_id__', dedupId] as const]),
    ...(meta ? metaMembers(decodeRowMeta(meta)) : []),
  ])
}

function metaMembers({ flags, tags, meta }: RowMeta): (readonly [string, JsonObject])[] {
  return [
    ...(flags ? [['__flags__', flags] as const] : []),
    ...(tags ? [['__tags__', tags] as const] : []),
    ...(meta ? [['__meta__', meta] as const] : []),
  ]
}

/** The metadata columns that some row uses; the header is written before the first row. */
async function metaColumns(
  source: ObjectReader,
  { tree }: StoredTestset,
  slice: TimeSlice,
): Promise<string[]> {
  const used = new Set<string>()
  for await (const batch of metasOf(source, tree, slice)) {
    for (const bytes of await readBlobs(source, batch))
      for (const [column] of metaMembers(decodeRowMeta(bytes))) used.add(column)
    if (used.size === 3) break
  }
  return ['__flags__', '__tags__', '__meta__'].filter((column) => used.has(column))
}

/**
 * Yields the metadata blobs of the rows in a `testcases` tree, folder by folder, in slices. Costs half as
 * much as `rowsOf`.
 */
async function* metasOf(
  source: ObjectReader,
  tree: Oid | undefined,
  slice: TimeSlice,
  depth = 0,
): AsyncGenerator<readonly Oid[]> {
  if (tree === undefined) return
  if (slice.isOver) await slice.rest()
  const bytes = await readBytes(source, tree, 'tree')
  const rows = new Set<number>()
  const metas = new Map<number, Oid>()
  const deeper: Oid[] = []
  scanRowFolder(bytes, (kind, byte, _entryAt, oidAt) => {
    const oid = (): Oid => bytes.toString('hex', oidAt, oidAt + OID_BYTES)
    if (kind === 'row') rows.add(byte)
    else if (kind === 'meta') metas.set(byte, oid())
    else if (kind === 'folder' && depth + 1 < DEEPEST_POSITION) deeper.push(oid())
  })
  const ofRows = [...metas].flatMap(([byte, oid]) => (rows.has(byte) ? oid : []))
  if (ofRows.length > 0) yield ofRows
  for (const folder of deeper) yield* metasOf(source, folder, slice, depth + 1)
}
