import type { Json, JsonObject } from '../../json/json.ts'
import { entriesOf, fromEntries, getKey } from '../../json/json.ts'
import { stringifyJson } from '../../json/stringify-json.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import type { FileType } from './collect-file.ts'
import { csvHeader, csvRow } from './files/csv-line.ts'
import { allColumns } from './listed-columns.ts'
import type { RowMeta } from './sent-row.ts'
import { DEDUP_COLUMN } from './sent-row.ts'
import { decodeRow, decodeRowMeta, inColumnOrder } from './stored-row.ts'
import type { RowBytes } from './stored-rows.ts'
import { rowBytesOf, withBytes } from './stored-rows.ts'
import { rowsOf } from './row-tree.ts'
import { testcaseId } from './testcase.ts'
import type { StoredTestset } from './testset-payload.ts'
import { rowPath } from './testset-tree.ts'

/** What of a testset is written into a file, and how. */
export interface Export {
  readonly source: ObjectSource
  readonly testset: StoredTestset
  readonly testsetId: string
  readonly type: FileType
  /** Whether cells that a spreadsheet would run are made harmless; see `csvLine`. */
  readonly escapeFormulas: boolean
}

/**
 * The rows of a testset as a file, piece by piece: the columns in order, then `__id__` and `__dedup_id__`, and `__flags__`,
 * `__tags__` and `__meta__` where rows have them (interface 2.6). Uploaded again, it gives equal testcases in order (ruling 5.5).
 */
export async function* writeTestsetFile(wanted: Export): AsyncGenerator<string> {
  if (wanted.type === 'csv') yield* writeCsv(wanted)
  else if (wanted.type === 'jsonl') yield* writeEach(wanted, '', '\n', '')
  else yield* writeEach(wanted, '[', ',', ']')
}

async function* writeCsv({ source, testset, testsetId, escapeFormulas }: Export): AsyncGenerator<string> {
  const metas = await metaColumns(source, testset)
  const columns = (await allColumns(source, testset)).filter((column) => column !== DEDUP_COLUMN)
  if (testset.tree === undefined && columns.length === 0) return
  const options = { escapeFormulas }
  let text = csvHeader([...columns, '__id__', '__dedup_id__', ...metas], options)
  for await (const batch of rowBytesOf(source, testset.tree)) {
    for (const { row, data: bytes, meta } of batch) {
      const data = decodeRow(bytes, () => rowPath(row.position))
      const values: (Json | undefined)[] = columns.map((column) => getKey(data, column))
      const members = meta ? new Map(metaMembers(decodeRowMeta(meta))) : NO_MEMBERS
      values.push(testcaseId(row.oid, testsetId), getKey(data, DEDUP_COLUMN))
      for (const column of metas) values.push(members.get(column))
      text += csvRow(values, options)
    }
    yield text
    text = ''
  }
  if (text !== '') yield text
}

async function* writeEach(
  { source, testset, testsetId, type }: Export,
  before: string,
  between: string,
  after: string,
): AsyncGenerator<string> {
  // With the first rows, so that a refusal to read them is answered as one.
  let lead = before
  for await (const batch of rowBytesOf(source, testset.tree)) {
    const texts = batch.map((row) => stringifyJson(fileRow(row, testset, testsetId)))
    yield lead + texts.join(between)
    lead = between
  }
  if (lead === before) yield before + after
  else yield type === 'jsonl' ? '\n' : after
}

const NO_MEMBERS: ReadonlyMap<string, JsonObject> = new Map()

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
async function metaColumns(source: ObjectSource, { tree }: StoredTestset): Promise<string[]> {
  const used = new Set<string>()
  for await (const batch of rowsOf(source, tree)) {
    const rows = batch.filter(({ meta }) => meta !== undefined)
    for (const { meta } of rows.length > 0 ? await withBytes(source, rows) : [])
      for (const [column] of meta ? metaMembers(decodeRowMeta(meta)) : []) used.add(column)
    if (used.size === 3) break
  }
  return ['__flags__', '__tags__', '__meta__'].filter((column) => used.has(column))
}
