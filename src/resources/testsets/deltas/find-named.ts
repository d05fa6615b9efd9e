import { invalid } from '../../../errors.ts'
import { keysOf } from '../../../json/json.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { PayloadTarget } from '../../../versioning/family/family.ts'
import { inBatches } from '../present-testset.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import { contentOf, decodeRow, dedupIdOf, encodeContent } from '../rows/stored-row.ts'
import { rowBytes, withoutMeta } from '../rows/stored-rows.ts'
import type { CollectedRow, CollectedTestset, ByIdTestset, StoredTestset } from '../testset-payload.ts'
import { RowsById } from './named-rows.ts'

/**
 * The rows that a request named by testcase ids, in the order it named them, each once (interface 8.12): rows of the revision that
 * this one follows, with their flags, tags and meta, or of any before it.
 */
export async function findRowsById(
  target: PayloadTarget,
  { ids, loc }: ByIdTestset,
  base: readonly RowEntry[],
  stored: StoredTestset | undefined,
  slice: TimeSlice,
): Promise<CollectedTestset> {
  const found = await entriesOf(new RowsById(target, base), ids, loc, slice)
  const rows: CollectedRow[] = []
  const columns = new Set(stored?.columns)
  for await (const batch of rowBytes(target, inBatches(withoutMeta(found)), slice)) {
    for (const { row, data: bytes } of batch) {
      const { oid } = row
      const meta = found[rows.length]?.meta
      const data = decodeRow(bytes, () => `the row ${oid}`)
      const content = contentOf(data)
      for (const key of keysOf(content)) columns.add(key)
      rows.push({ oid, meta, key: dedupIdOf(data) ?? oid, contentHash: encodeContent(content).hash })
      if (slice.isOver) await slice.rest()
    }
  }
  const met = { collapsed: ids.length - rows.length, replaced: 0 }
  return { kind: 'collected', rows, columns: [...columns], met }
}

/** The rows of these testcases, each once; one of an earlier revision has nothing beside its data. */
async function entriesOf(
  named: RowsById,
  ids: readonly string[],
  loc: ByIdTestset['loc'],
  slice: TimeSlice,
): Promise<readonly RowEntry[]> {
  const rows: RowEntry[] = []
  const seen = new Map<string, true>()
  for (const [index, id] of ids.entries()) {
    const entry = await named.find(id)
    const oid = entry?.oid ?? (await named.findEver(id))
    if (oid === undefined) {
      throw invalid(
        [...loc, index],
        `${id} is no testcase of this testset. Send its data in testcases instead.`,
        'unknown_testcase',
      )
    }
    if (!seen.has(oid)) rows.push({ position: '', oid, meta: entry?.meta })
    seen.set(oid, true)
    if (index % AT_ONCE === 0 && slice.isOver) await slice.rest()
  }
  return rows
}

const AT_ONCE = 16
