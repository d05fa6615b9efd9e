import type { Oid } from '../../../git/objects/object.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import { rowKeys } from './row-index.ts'
import type { RowProblem } from '../rows/row-problems.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { readBlobs } from '../rows/stored-rows.ts'
import { rowPath } from '../testset-tree.ts'

/**
 * The rows of a revision that share a dedup id with one before them: rows are joined on it (interface 8.5), so no two may have the
 * same. `among` are the keys (`keyOfDedupId`) of those that may be shared, all of them if it is left out. Costs a comparison of
 * 32 bits a row, and the blobs of those that seem to be the same. Rows must decode.
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
