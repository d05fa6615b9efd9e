import { invalid } from '../../errors.ts'
import { keysOf } from '../../json/json.ts'
import type { PayloadTarget } from '../../versioning/family.ts'
import { readBytes } from '../../versioning/tree-files.ts'
import { NamedRows } from './named-rows.ts'
import type { RowEntry } from './row-tree.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from './stored-row.ts'
import type { CollectedRow, CollectedTestset, NamedTestset, StoredTestset } from './testset-payload.ts'

/**
 * The rows that a request named by testcase ids, in the order it named them, each once (ruling 5.1): rows of the revision that
 * this one follows, with their flags, tags and meta, or of any before it.
 */
export async function findNamed(
  target: PayloadTarget,
  { ids, loc }: NamedTestset,
  base: readonly RowEntry[],
  stored: StoredTestset | undefined,
): Promise<CollectedTestset> {
  const named = new NamedRows(target, base)
  const rows = new Map<string, CollectedRow>()
  const columns = new Set(stored?.columns)
  for (const [index, id] of ids.entries()) {
    const oid = await named.findEver(id)
    if (oid === undefined) {
      throw invalid(
        [...loc, index],
        `${id} is no testcase of this testset. Send its data in testcases instead.`,
        'unknown_testcase',
      )
    }
    const data = decodeRow(await readBytes(target, oid, 'blob'), () => `the row ${oid}`)
    const content = contentOf(data)
    for (const key of keysOf(content)) columns.add(key)
    const contentHash = encodeContent(content).hash
    rows.set(oid, { oid, meta: named.find(id)?.meta, key: dedupIdOf(data) ?? oid, contentHash })
  }
  return { kind: 'collected', rows: [...rows.values()], columns: [...columns] }
}
