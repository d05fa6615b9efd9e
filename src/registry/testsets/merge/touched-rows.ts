import type { Oid } from '../../../git/objects.ts'
import type { JsonObject } from '../../../base/json.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { PayloadTarget } from '../../payload/family.ts'
import { inBatches } from '../present-testset.ts'
import type { ChangedPosition } from '../rows/changed-positions.ts'
import { changedPositions } from '../rows/changed-positions.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { RowPosition } from '../rows/row-position.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { rowBytes, rowEntriesOf } from '../rows/stored-rows.ts'
import type { StoredTestset } from '../testset-payload.ts'

/** The changes of one side to the base's rows. */
export interface TouchedRows {
  /** The rows at changed positions by dedup id, before and after. */
  readonly before: ReadonlyMap<string, RowEntry>
  readonly after: ReadonlyMap<string, RowEntry>
  /** Whether a position now has another row, or none. */
  isReplaced(position: RowPosition): boolean
}

/** The rows of two sides that differ from the base, and the data of each. */
export interface TouchedSides {
  readonly target: TouchedRows
  readonly source: TouchedRows
  dataOf(row: RowEntry): JsonObject
}

/**
 * Finds the rows that two sides changed. Reads only differing folders and the rows at differing positions.
 */
export async function touchedRows(
  reader: PayloadTarget,
  base: StoredTestset,
  sides: { readonly target: StoredTestset; readonly source: StoredTestset },
  slice: TimeSlice,
): Promise<TouchedSides> {
  const changed = async ({ tree }: StoredTestset): Promise<readonly ChangedPosition[]> => {
    const found: ChangedPosition[] = []
    const trees = { before: base.tree, after: tree }
    for await (const some of changedPositions(reader, trees, '', slice))
      for (const position of some) found.push(position)
    return found
  }
  const [ofTarget, ofSource] = [await changed(sides.target), await changed(sides.source)]
  const oids = new Set<Oid>()
  await slice.each([...ofTarget, ...ofSource], ({ before, after }) => {
    if (before) oids.add(before.oid)
    if (after) oids.add(after.oid)
  })
  const data = new Map<Oid, JsonObject>()
  for await (const batch of rowBytes(reader, inBatches(rowEntriesOf([...oids])), slice)) {
    for (const { row, data: bytes } of batch) {
      data.set(
        row.oid,
        decodeRow(bytes, () => `the row ${row.oid}`),
      )
      await slice.pause()
    }
  }
  const dataOf = ({ oid }: Pick<RowEntry, 'oid'>): JsonObject => {
    const found = data.get(oid)
    if (!found) throw new Error(`the row ${oid} was not read`)
    return found
  }
  const idOf = (row: Pick<RowEntry, 'oid'>): string => dedupIdOf(dataOf(row)) ?? row.oid
  return {
    target: await touched(ofTarget, idOf, slice),
    source: await touched(ofSource, idOf, slice),
    dataOf,
  }
}

async function touched(
  rows: readonly ChangedPosition[],
  idOf: (row: Pick<RowEntry, 'oid'>) => string,
  slice: TimeSlice,
): Promise<TouchedRows> {
  const before = new Map<string, RowEntry>()
  const after = new Map<string, RowEntry>()
  const replaced = new Set<RowPosition>()
  await slice.each(rows, ({ position, before: old, after: now }) => {
    const [oldId, newId] = [old && idOf(old), now && idOf(now)]
    if (old && oldId !== undefined) before.set(oldId, { position, ...old })
    if (now && newId !== undefined) after.set(newId, { position, ...now })
    if (oldId !== newId) replaced.add(position)
  })
  return { before, after, isReplaced: (position) => replaced.has(position) }
}
