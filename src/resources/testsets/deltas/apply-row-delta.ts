import type { PayloadTarget } from '../../../versioning/family/family.ts'
import type { TestsetLimits } from '../import/row-collector.ts'
import type { RowDelta } from './row-delta.ts'
import { RowEdit } from './row-edit.ts'
import type { EditedTestset, StoredTestset } from '../testset-payload.ts'

/**
 * The testset that a delta makes of `base`: columns first, on the rows of the base only, then rows replaced, removed and added
 * (contract/testsets 4.2). Adding rows costs the rows added, however many there are. Refuses unknown row ids, and dedup ids
 * that another row holds.
 */
export async function applyRowDelta(
  target: PayloadTarget,
  base: StoredTestset,
  { columns, replace, remove, add, addLoc }: RowDelta,
  limits: TestsetLimits,
): Promise<EditedTestset> {
  const edit = new RowEdit(target, base, limits)
  await edit.changeColumns(columns, replace.length + add.length > 0)
  await edit.replace(replace)
  await edit.remove(remove)
  await edit.add(add, addLoc)
  return { kind: 'edited', base, changes: edit.changes, columns: edit.columns }
}
