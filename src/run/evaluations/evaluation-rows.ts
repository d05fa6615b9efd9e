import type { JsonObject } from '../../base/json.ts'
import {
  decodeRow,
  contentOf,
  countRows,
  rowCounts,
  rowsOfTree,
  rowBytesOf,
  testcaseId,
  asStored,
  rowPath,
} from '../../registry/testsets.ts'
import type { Revision } from '../../registry/revisions.ts'

/** A row as the input of a workflow. */
export interface EvaluationRow {
  readonly testcaseId: string
  /** The row without the dedup id. */
  readonly data: JsonObject
}

/** The rows of a testset revision, in order, read in batches. */
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

/** The testcase ids of a testset revision, in order, in batches. */
export async function* testcaseIdsOf({ artifact, stored }: Revision): AsyncGenerator<readonly string[]> {
  if (stored.payload === undefined) return
  const { tree } = asStored(stored.payload)
  for await (const batch of rowsOfTree(artifact.repository.objects, tree))
    yield batch.map(({ oid }) => testcaseId(oid, artifact.id))
}

export async function countTestcases({ artifact, stored }: Revision): Promise<number> {
  if (stored.payload === undefined) return 0
  return countRows(artifact.repository.objects, asStored(stored.payload).tree, rowCounts)
}
