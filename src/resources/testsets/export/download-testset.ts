import type { Oid } from '../../../git/objects/object.ts'
import type { JsonObject } from '../../../json/json.ts'
import { entriesOf, fromEntries, getKey } from '../../../json/json.ts'
import { stringifyJson } from '../../../json/stringify-json.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import type { FileType } from '../import/files/file-type.ts'
import { csvHeader, csvRow } from './csv-line.ts'
import { allColumns } from '../rows/listed-columns.ts'
import type { RowMeta } from '../import/input-row.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'
import { decodeRow, decodeRowMeta, inColumnOrder } from '../rows/stored-row.ts'
import type { RowBytes } from '../rows/stored-rows.ts'
import { readBlobs, rowBytesOf } from '../rows/stored-rows.ts'
import { OID_BYTES, scanRowFolder } from '../rows/row-folder.ts'
import { DEEPEST_POSITION } from '../rows/row-position.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import { testcaseId } from '../testcase.ts'
import type { StoredTestset } from '../testset-payload.ts'
import { rowPath } from '../testset-tree.ts'

/** What of a testset is written into a file, and how. */
export interface Export {
  readonly source: ObjectReader
  readonly testset: StoredTestset
  readonly testsetId: string
  readonly type: FileType
  /** Whether cells that a spreadsheet would run are made harmless; see `csvLine`. */
  readonly escapeFormulas: boolean
  /** Whether a CSV file begins with a byte order mark, by which Excel knows that it is UTF-8. */
  readonly bom?: boolean
  /** Ends the work with its reason: nobody waits for it any more. */
  readonly gone?: AbortSignal
}

/**
 * The rows of a testset as a file, piece by piece: the columns in order, then `__id__` and `__dedup_id__`, and `__flags__`,
 * `__tags__` and `__meta__` where rows have them (interface 8.28). Uploaded again, it gives equal testcases in order (interface 8.17).
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

/** What stands before the rows, for each of them, and behind them. */
interface FileLayout {
  readonly before?: string
  readonly lineOf: (row: RowBytes) => string
  readonly after?: string
}

/** From so many characters on a piece does not wait for the rest of its rows: some hundred may be a thousand times as long. */
const LONG_PIECE = 1024 ** 2

/** The file, a batch of rows a piece. The first piece comes with the first rows, so that a refusal to read them is answered as one. */
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
      if (text.length < LONG_PIECE) continue
      yield Buffer.from(text)
      text = ''
    }
    if (text !== '') yield Buffer.from(text)
    text = ''
  }
  text += after
  if (text !== '') yield Buffer.from(text)
}

/** A row with its metadata columns; the dedup id under the name that files have for it. */
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

/** Which metadata columns some row fills: the header has to say so before the first row is written. */
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
 * The blobs of the flags, tags and meta that rows of a `testcases` tree have, a folder's at a time, in slices. Half the work of `rowsOf`.
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
