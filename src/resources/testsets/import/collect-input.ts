import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { PayloadTarget } from '../../../versioning/family/family.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import { RowsById } from '../deltas/named-rows.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { CollectedTestset } from '../testset-payload.ts'
import type { InputRow } from './input-row.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'

/** Writes rows of a request, which know the rows of the revision they replace by their ids (ruling 5.3). */
export async function collectInput(
  target: PayloadTarget,
  rows: readonly InputRow[],
  base: readonly RowEntry[],
  limits: TestsetLimits,
  slice: TimeSlice,
): Promise<CollectedTestset> {
  const collector = new RowCollector(
    { put: (bytes) => target.write('blob', bytes), get: (oid) => readBytes(target, oid, 'blob') },
    limits,
  )
  const named = new RowsById(target, base)
  for (const row of rows) {
    collector.add(await named.identify(row))
    if (slice.isOver) await slice.rest()
  }
  return { kind: 'collected', ...(await collector.finish(slice)) }
}
