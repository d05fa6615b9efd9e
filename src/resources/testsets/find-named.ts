import { invalid } from '../../errors.ts'
import type { ObjectSource } from '../../versioning/tree-files.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import { NamedRows } from './collect-sent.ts'
import type { RowEntry } from './row-tree.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from './stored-row.ts'
import { rowPath } from './testset-tree.ts'
import type { CollectedRow, CollectedTestset, NamedTestset, StoredTestset } from './testset-payload.ts'

/** The rows of the revision that a request named by testcase ids, in the order it named them; each once (ruling 5.1). */
export async function findNamed(
  source: ObjectSource,
  { ids, loc }: NamedTestset,
  base: readonly RowEntry[],
  stored: StoredTestset | undefined,
): Promise<CollectedTestset> {
  const named = new NamedRows(source, base)
  const rows = new Map<string, CollectedRow>()
  for (const [index, id] of ids.entries()) {
    const entry = named.find(id)
    if (!entry) {
      throw invalid(
        [...loc, index],
        `${id} is no row of the revision this one follows. Send its data in testcases instead.`,
        'unknown_testcase',
      )
    }
    const { oid, meta } = entry
    const data = decodeRow(await readBytes(source, oid, 'blob'), rowPath(entry.position))
    const contentHash = encodeContent(contentOf(data)).hash
    rows.set(oid, { oid, meta, key: dedupIdOf(data) ?? oid, contentHash })
  }
  return { kind: 'collected', rows: [...rows.values()], columns: stored?.columns ?? [] }
}
