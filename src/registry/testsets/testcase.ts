import type { Oid } from '../../git/objects.ts'
import { objectUuid, repositoryDigits } from '../store/ids.ts'
import { decodeRow, decodeRowMeta, inColumnOrder } from './rows/stored-row.ts'
import type { RowBytes } from './rows/stored-rows.ts'
import { rowPath } from './testset-tree.ts'

/** The id of a row's testcase in the testset of this id. */
export function testcaseId(oid: Oid, testsetId: string): string {
  return objectUuid(oid, repositoryDigits(testsetId))
}

/** A row of a revision as a record (interface 8.1), its keys in the order of the columns. */
export function presentTestcase(
  { row, data, meta }: RowBytes,
  testsetId: string,
  columns: readonly string[],
): object {
  return {
    id: testcaseId(row.oid, testsetId),
    testset_id: testsetId,
    data: inColumnOrder(
      decodeRow(data, () => rowPath(row.position)),
      columns,
    ),
    ...(meta ? decodeRowMeta(meta) : {}),
  }
}
