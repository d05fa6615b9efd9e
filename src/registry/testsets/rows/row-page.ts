import { invalid } from '../../../errors.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import { oidPrefix, parseUuid } from '../../store/ids.ts'
import type { Windowing } from '../../store/pagination.ts'
import { testcaseId } from '../testcase.ts'
import type { StoredTestset } from '../testset-payload.ts'
import type { RowEntry, RowRange } from './row-entry.ts'
import { decodeRowFolder } from './row-folder.ts'
import type { RowPosition } from './row-position.ts'
import { DEEPEST_POSITION, parsePosition, positionPath } from './row-position.ts'
import { countRows, rowCounts, rowsOfTree } from './row-tree.ts'

/** Rows of a testset in the requested order, and the cursor of the next page. */
export interface RowPage {
  readonly rows: readonly RowEntry[]
  /** As an answer's `windowing`; undefined when none remain. */
  readonly windowing: object | undefined
}

/** The first rows of a window, at most `limit`; a cursor is a position, to which the tree is walked directly. */
export async function rowPage(
  source: ObjectReader,
  { tree }: StoredTestset,
  testsetId: string,
  windowing: Windowing | undefined,
  limit: number,
  slice = new TimeSlice(),
): Promise<RowPage> {
  const rows: RowEntry[] = []
  const range = await rowRange(source, tree, testsetId, windowing, slice)
  for await (const batch of rowsOfTree(source, tree, range)) {
    if (slice.isOver) await slice.rest()
    for (const row of batch) {
      if (rows.length === limit) {
        const next = cursorOf(rows.at(-1)?.position ?? '')
        return { rows, windowing: { ...windowing, offset: undefined, next } }
      }
      rows.push(row)
    }
  }
  return { rows, windowing: undefined }
}

/** The position in the tree at which a window begins. */
export async function rowRange(
  source: ObjectReader,
  tree: StoredTestset['tree'],
  testsetId: string,
  windowing: Windowing | undefined,
  slice = new TimeSlice(),
): Promise<RowRange> {
  const descending = windowing?.order === 'descending'
  const next = windowing?.next
  if (next === undefined) return { descending, offset: windowing?.offset }
  const after = positionOf(next) ?? (await positionOfTestcase(source, tree, testsetId, next, slice))
  if (after !== undefined) return { descending, after }
  throw invalid(
    ['body', 'windowing', 'next'],
    `"${next}" is no cursor of this testset. Send the \`next\` of the previous answer, or the id of the last testcase seen.`,
    'invalid_cursor',
  )
}

/** The number of a tree's rows before a position, which is the `offset` of a window that begins there. */
export async function rowsBefore(
  source: ObjectReader,
  tree: StoredTestset['tree'],
  position: RowPosition,
  slice = new TimeSlice(),
): Promise<number> {
  let rows = 0
  let next = tree
  for (let depth = 0; next !== undefined && depth < position.length; depth++) {
    const folder = decodeRowFolder(await readBytes(source, next, 'tree'))
    const byte = position.charCodeAt(depth)
    for (let before = 0; before < byte; before++) {
      if (folder.rows[before] !== undefined) rows++
      // Folders that are too deep have no rows.
      if (depth + 1 < DEEPEST_POSITION)
        rows += await countRows(source, folder.folders[before], rowCounts, slice, depth + 1)
    }
    if (depth < position.length - 1 && folder.rows[byte] !== undefined) rows++
    next = folder.folders[byte]
  }
  return rows
}

/** The cursor is the position of the last row, which is also valid in a later revision. */
function cursorOf(position: RowPosition): string {
  return `row-${positionPath(position).replaceAll('/', '')}`
}

function positionOf(cursor: string): RowPosition | undefined {
  const [, digits] = /^row-((?:[0-9a-f]{2})+)$/.exec(cursor) ?? []
  return digits === undefined ? undefined : parsePosition(digits.replaceAll(/..(?!$)/g, '$&/'))
}

async function positionOfTestcase(
  source: ObjectReader,
  tree: StoredTestset['tree'],
  testsetId: string,
  text: string,
  slice: TimeSlice,
): Promise<RowPosition | undefined> {
  const id = parseUuid(text)
  if (id === undefined) return undefined
  const prefix = oidPrefix(id)
  for await (const batch of rowsOfTree(source, tree)) {
    const row = batch.find(({ oid }) => oid.startsWith(prefix) && testcaseId(oid, testsetId) === id)
    if (row) return row.position
    if (slice.isOver) await slice.rest()
  }
  return undefined
}
