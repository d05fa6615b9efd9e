import type { JsonObject } from '../json/json.ts'
import { decodeRow, contentOf } from '../resources/testsets/rows/stored-row.ts'
import { countRows, rowCounts, rowsOfTree } from '../resources/testsets/rows/row-tree.ts'
import { rowBytesOf } from '../resources/testsets/rows/stored-rows.ts'
import { testcaseId } from '../resources/testsets/testcase.ts'
import { asStored } from '../resources/testsets/testset-payload.ts'
import { rowPath } from '../resources/testsets/testset-tree.ts'
import type { Revision } from '../versioning/revisions/revision.ts'

/** A row as workflows see it: the inputs of a run. */
export interface EvaluationRow {
  readonly testcaseId: string
  /** Its data without the dedup id. */
  readonly data: JsonObject
}

/** The rows of a testset revision, in order, some in memory at a time. */
export async function* evaluationRows({ artifact, stored }: Revision): AsyncGenerator<EvaluationRow> {
  if (stored.payload === undefined) return
  const { tree } = asStored(stored.payload)
  for await (const batch of rowBytesOf(artifact.repository.objects, tree)) {
    for (const { row, data } of batch) {
      yield {
        testcaseId: testcaseId(row.oid, artifact.id),
        data: contentOf(decodeRow(data, () => rowPath(row.position))),
      }
    }
  }
}

/** The ids of the testcases of a testset revision, in order, of some rows at a time. */
export async function* testcaseIdsOf({ artifact, stored }: Revision): AsyncGenerator<readonly string[]> {
  if (stored.payload === undefined) return
  const { tree } = asStored(stored.payload)
  for await (const batch of rowsOfTree(artifact.repository.objects, tree))
    yield batch.map(({ oid }) => testcaseId(oid, artifact.id))
}

/** How many there are. */
export async function countTestcases({ artifact, stored }: Revision): Promise<number> {
  if (stored.payload === undefined) return 0
  return countRows(artifact.repository.objects, asStored(stored.payload).tree, rowCounts)
}
