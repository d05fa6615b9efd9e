import { recentlyUsed } from '../../../base/recently-used.ts'
import type { Oid } from '../../../git/objects.ts'
import { keysOf } from '../../../base/json.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { TimeSlice } from '../../../base/scheduling.ts'
import { DEDUP_COLUMN } from '../import/input-row.ts'
import { decodeRow } from './stored-row.ts'
import { rowBytesOf } from './stored-rows.ts'
import type { StoredTestset } from '../testset-payload.ts'
import { rowPath } from '../testset-tree.ts'

/** The columns of trees of rows, if they are known to name every key. */
const listed = recentlyUsed<Oid, readonly string[]>(10_000, (columns) => 10 + columns.length)

/** Caches that these columns name every key of the rows, so that `allColumns` need not read the rows. */
export function cacheColumns({ tree, columns }: StoredTestset): void {
  if (tree !== undefined) listed.set(tree, columns)
}

/** Whether the testset's columns are known to name every key of its rows. */
export function areColumnsCached({ tree, columns }: StoredTestset): boolean {
  if (tree === undefined) return true
  const noted = listed.get(tree)
  if (noted === undefined || noted === columns) return noted !== undefined
  const known = new Set(columns)
  return noted.every((column) => known.has(column))
}

/**
 * The columns of a testset, followed by keys of its rows that are not columns: git may have changed rows and not the list of columns. Reads
 * all rows unless this process wrote or read them before.
 */
export async function allColumns(
  source: ObjectReader,
  testset: StoredTestset,
  slice = new TimeSlice(),
): Promise<readonly string[]> {
  const { tree, columns } = testset
  if (areColumnsCached(testset)) return columns
  const keys = new Set<string>()
  for await (const batch of rowBytesOf(source, tree, {}, slice)) {
    for (const { row, data } of batch) {
      for (const key of keysOf(decodeRow(data, () => rowPath(row.position)))) keys.add(key)
      if (slice.isOver) await slice.rest()
    }
  }
  keys.delete(DEDUP_COLUMN)
  cacheColumns({ ...testset, columns: [...keys] })
  return [...new Set([...columns, ...keys])]
}
