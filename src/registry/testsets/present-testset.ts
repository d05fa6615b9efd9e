import { textOrStream, stringifyJson } from '../../base/json.ts'
import { TimeSlice } from '../../base/scheduling.ts'
import type { PresentContext, PresentedPayload } from '../payload/family.ts'
import type { ObjectReader } from '../payload/tree-files.ts'
import type { RowEntry } from './rows/row-entry.ts'
import { rowPage, rowRange } from './rows/row-page.ts'
import { countRows, rowCounts, rowsOfTree } from './rows/row-tree.ts'
import type { RowBytes } from './rows/stored-rows.ts'
import { rowBytes } from './rows/stored-rows.ts'
import { presentTestcase, testcaseId } from './testcase.ts'
import type { StoredTestset } from './testset-payload.ts'

/** The flags with which a request selects parts of a testset (interface 8.15); the default is true. */
export const READ_FLAGS = ['include_testcases', 'include_testcase_ids'] as const

/**
 * A testset in the form that its reader requested: with ids and rows unless these are left out, all or a page of them (interface 8.15). The
 * cost of a page depends only on its rows; a whole large testset takes time but little memory.
 */
export async function presentTestset(
  testset: StoredTestset,
  { artifactId, source, asked }: PresentContext,
): Promise<PresentedPayload> {
  const shown = {
    rows: asked.flags['include_testcases'] !== false,
    ids: asked.flags['include_testcase_ids'] !== false,
  }
  const { windowing } = asked
  const limit = windowing?.limit
  const total = windowing?.count_total ? await countRows(source, testset.tree, rowCounts) : undefined
  if (!shown.rows && !shown.ids && limit === undefined) return { data: {}, total }
  if (limit === undefined) {
    const range = await rowRange(source, testset.tree, artifactId, windowing)
    const batches = () => rowsOfTree(source, testset.tree, range)
    return { data: await textOrStream(writeData(source, testset, artifactId, shown, batches)), total }
  }
  const page = await rowPage(source, testset, artifactId, windowing, limit)
  const pieces = writeData(source, testset, artifactId, shown, () => inBatches(page.rows))
  return { data: await textOrStream(pieces), windowing: page.windowing, total }
}

type Batches = AsyncIterable<readonly RowEntry[]> | Iterable<readonly RowEntry[]>

async function* writeData(
  source: ObjectReader,
  { columns }: StoredTestset,
  testsetId: string,
  shown: { readonly rows: boolean; readonly ids: boolean },
  batches: () => Batches,
): AsyncGenerator<string> {
  yield '{'
  if (shown.ids) {
    yield '"testcase_ids":['
    yield* commaSeparated(batches(), ({ oid }) => `"${testcaseId(oid, testsetId)}"`)
    yield shown.rows ? '],' : ']'
  }
  if (shown.rows) {
    yield '"testcases":['
    yield* commaSeparated(rowBytes(source, batches()), (row) =>
      stringifyJson(presentTestcase(row, testsetId, columns)),
    )
    yield ']'
  }
  yield '}'
}

/** The JSON text of some rows of a revision as testcases, without the revision's fields (interface 8.7), piece by piece. */
export async function* writeRows(
  source: ObjectReader,
  rows: readonly RowEntry[],
  testsetId: string,
  columns: readonly string[],
  slice: TimeSlice,
): AsyncGenerator<string> {
  const show = ({ row, data }: RowBytes): string => {
    const testcase = presentTestcase({ row, data, meta: undefined }, testsetId, columns)
    return stringifyJson(Object.assign(testcase, { set_id: testsetId }))
  }
  yield '['
  yield* commaSeparated(rowBytes(source, inBatches(rows), slice), show, slice)
  yield ']'
}

/** Formats each item; a piece has a batch of items, or fewer if they are long. Other work runs in between. */
export async function* commaSeparated<T>(
  batches: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  write: (item: T) => string,
  slice = new TimeSlice(),
): AsyncGenerator<string> {
  let comma = ''
  for await (const batch of batches) {
    let text = ''
    for (const item of batch) {
      text += comma + write(item)
      comma = ','
      if (slice.isOver) await slice.rest()
      if (text.length < LONG) continue
      yield text
      text = ''
    }
    yield text
  }
}

/** A piece of this many characters does not wait for the rest of its batch. */
const LONG = 1024 ** 2

/** A list of rows, in batches of some hundred. */
export function* inBatches<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let at = 0; at < rows.length; at += AT_ONCE) yield rows.slice(at, at + AT_ONCE)
}

const AT_ONCE = 256
