import type { Oid } from '../../../git/objects.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { rowKeys } from './row-index.ts'
import type { RowProblem } from '../rows/row-problems.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { readBlobs } from '../rows/stored-rows.ts'
import { rowPath } from '../testset-tree.ts'

/**
 * Yields a problem for each row that shares a dedup id with an earlier row: rows are joined on it (interface
 * 8.5), so it must be unique. `among` limits the check to these keys (`keyOfDedupId`); all rows are checked
 * without it. Compares 32 bits per row and reads only the blobs of likely duplicates. Rows must decode.
 */
export async function* repeatedDedupIds(
  source: ObjectReader,
  tree: Oid,
  among?: ReadonlySet<number>,
): AsyncGenerator<RowProblem> {
  const paths = new Map<string, string>()
  const twins = await rowKeys.twins(source, tree, among)
  const blobs = await readBlobs(
    source,
    twins.map(({ oid }) => oid),
  )
  for (const [index, { position }] of twins.entries()) {
    const path = rowPath(position)
    const id = dedupIdOf(decodeRow(blobs[index] ?? Buffer.alloc(0), () => path)) ?? ''
    const other = paths.get(id)
    if (id !== '' && other !== undefined && other !== path) {
      yield {
        sentence: `${path} and ${other} have the same testcase_dedup_id, ${JSON.stringify(id)}; give one of them another`,
      }
    }
    paths.set(id, path)
  }
}
