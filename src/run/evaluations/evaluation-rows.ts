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
import { invalid } from '../../errors.ts'
import { readBytes } from '../../registry/families.ts'
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

/** A row whose data is read when it is run. */
export interface NamedRow {
  readonly testcaseId: string
  read(): Promise<EvaluationRow>
}

/** The rows of these testcases, in the order of the testset. Refuses testcases that are none of its rows, or not `among` those given. */
export async function rowsNamed(
  { artifact, stored, slug }: Revision,
  ids: ReadonlySet<string>,
  among?: readonly string[],
): Promise<readonly NamedRow[]> {
  const { objects } = artifact.repository
  const found: NamedRow[] = []
  const tree = stored.payload && asStored(stored.payload).tree
  for await (const batch of rowsOfTree(objects, tree)) {
    for (const row of batch) {
      const id = testcaseId(row.oid, artifact.id)
      if (!ids.has(id) || among?.includes(id) === false) continue
      const read = async (): Promise<EvaluationRow> => {
        const bytes = await readBytes(objects, row.oid, 'blob')
        return { testcaseId: id, data: contentOf(decodeRow(bytes, () => rowPath(row.position))) }
      }
      found.push({ testcaseId: id, read })
    }
    if (found.length === ids.size) return found
  }
  const known = new Set(found.map((it) => it.testcaseId))
  const missing = [...ids].filter((id) => !known.has(id))
  const others = missing.length > 1 ? ` and ${missing.length - 1} more are no testcases` : ' is no testcase'
  throw invalid(
    ['body', 'testcase_ids'],
    `${missing[0]}${others} of ${slug}, which this evaluation ran. POST /evaluations/{id}/results answers them`,
    'unknown_testcase',
  )
}

/** Reads named rows, one by one. */
export async function* readRows(named: readonly NamedRow[]): AsyncGenerator<EvaluationRow> {
  for (const { read } of named) yield await read()
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
