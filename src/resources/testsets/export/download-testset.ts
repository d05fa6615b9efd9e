import type { JsonObject } from '../../../json/json.ts'
import { entriesOf, fromEntries, getKey } from '../../../json/json.ts'
import { stringifyJson } from '../../../json/stringify-json.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import type { FileType } from '../import/collect-file.ts'
import { csvCell, csvHeader, csvRow } from '../import/files/csv-line.ts'
import { PieceWriter } from './piece-writer.ts'
import { MISSING, RowCells } from './row-cells.ts'
import { writeCsvCell, writeJsonCell, writeJsonMember } from './write-cell.ts'
import { allColumns } from '../rows/listed-columns.ts'
import type { RowMeta } from '../import/input-row.ts'
import { DEDUP_COLUMN, METADATA_COLUMNS } from '../import/input-row.ts'
import { decodeRow, decodeRowMeta, inColumnOrder } from '../rows/stored-row.ts'
import type { RowBytes } from '../rows/stored-rows.ts'
import { readBlobs, rowBytesOf } from '../rows/stored-rows.ts'
import { metasOf } from '../rows/row-tree.ts'
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
  /** Ends the work with its reason: nobody waits for it any more. */
  readonly gone?: AbortSignal
}

/**
 * The rows of a testset as a file, piece by piece: the columns in order, then `__id__` and `__dedup_id__`, and `__flags__`,
 * `__tags__` and `__meta__` where rows have them (interface 2.6). Uploaded again, it gives equal testcases in order (ruling 5.5).
 * What stands in a row's blob as the file has it is copied from there.
 */
export function writeTestsetFile(wanted: Export): AsyncGenerator<Buffer> {
  return wanted.type === 'csv' ? writeCsv(wanted) : writeJson(wanted)
}

async function* writeCsv({
  source,
  testset,
  testsetId,
  escapeFormulas,
  gone,
}: Export): AsyncGenerator<Buffer> {
  const slice = new TimeSlice(gone)
  const metas = await metaColumns(source, testset, slice)
  const columns = (await allColumns(source, testset, slice)).filter((column) => column !== DEDUP_COLUMN)
  if (testset.tree === undefined && columns.length === 0) return
  const options = { escapeFormulas }
  const cells = new RowCells([...columns, DEDUP_COLUMN])
  const numbers = columns.map((column) => cells.numberOf(column))
  const dedupNumber = cells.numberOf(DEDUP_COLUMN)
  const writer = new PieceWriter()
  writer.text(csvHeader([...columns, '__id__', '__dedup_id__', ...metas], options))
  const isWide = columns.length > WIDE
  for await (const batch of rowBytesOf(source, testset.tree, {}, slice)) {
    for (const { row, data: bytes, meta } of batch) {
      if (isWide && slice.isOver) await slice.rest()
      const id = testcaseId(row.oid, testsetId)
      const members = meta ? new Map(metaMembers(decodeRowMeta(meta))) : NO_MEMBERS
      const metaValues = metas.map((column) => members.get(column))
      if (cells.find(bytes)) {
        for (const number of numbers) {
          writeCsvCell(writer, cells, number, options)
          writer.text(',')
        }
        writer.text(`${id},`)
        writeCsvCell(writer, cells, dedupNumber, options)
        for (const value of metaValues) writer.text(`,${csvCell(value, options)}`)
        writer.text('\r\n')
      } else {
        const data = decodeRow(bytes, () => rowPath(row.position))
        const values = columns.map((column) => getKey(data, column))
        writer.text(csvRow([...values, id, getKey(data, DEDUP_COLUMN), ...metaValues], options))
      }
      if (writer.length >= LONG_PIECE) yield writer.take()
    }
    yield writer.take()
  }
  if (writer.length > 0) yield writer.take()
}

const NO_MEMBERS: ReadonlyMap<string, JsonObject> = new Map()

/** From so many bytes on a piece does not wait for the rest of its rows: some hundred may be a thousand times as long. */
const LONG_PIECE = 1024 ** 2

/** Of more columns than this a batch of rows is too much for one go: in each row they are all looked for. */
const WIDE = 64

async function* writeJson({ source, testset, testsetId, type, gone }: Export): AsyncGenerator<Buffer> {
  const slice = new TimeSlice(gone)
  const columns = testset.columns.filter((column) => !NOT_DATA.has(column))
  const cells = new RowCells([...columns, DEDUP_COLUMN])
  const numbers = [...new Set(columns)].map((column) => cells.numberOf(column))
  const dedupNumber = cells.numberOf(DEDUP_COLUMN)
  const writer = new PieceWriter()
  const [before, between, after] = type === 'json' ? ['[', ',', ']'] : ['', '\n', '\n']
  let lead = before
  const isWide = columns.length > WIDE
  for await (const batch of rowBytesOf(source, testset.tree, {}, slice)) {
    for (const row of batch) {
      if (isWide && slice.isOver) await slice.rest()
      if (writer.length >= LONG_PIECE) yield writer.take()
      writer.text(lead)
      lead = between
      if (!cells.find(row.data)) {
        writer.text(stringifyJson(fileRow(row, testset, testsetId)))
        continue
      }
      writer.text('{')
      for (const number of numbers) {
        if (cells.kinds[number] === MISSING) continue
        writeJsonMember(writer, cells, number)
        writer.text(',')
      }
      writer.text(`"__id__":"${testcaseId(row.row.oid, testsetId)}"`)
      if (cells.kinds[dedupNumber] !== MISSING) {
        writer.text(',"__dedup_id__":')
        writeJsonCell(writer, cells, dedupNumber)
      }
      for (const [column, value] of row.meta ? metaMembers(decodeRowMeta(row.meta)) : [])
        writer.text(`,"${column}":${stringifyJson(value)}`)
      writer.text('}')
    }
    // Not before the first rows, so that a refusal to read them is answered as one.
    yield writer.take()
  }
  if (type === 'json' && lead === before) writer.text(before)
  if (type === 'json' || lead !== before) writer.text(after)
  yield writer.take()
}

/** Keys that a file has for members of its own: only an object can tell what becomes of a row that has them, too. */
const NOT_DATA: ReadonlySet<string> = new Set([DEDUP_COLUMN, ...METADATA_COLUMNS])

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
