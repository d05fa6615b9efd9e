import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { TreeEntry } from '../../../git/objects/tree.ts'
import type { ChangedRows, PayloadTarget, WrittenPayload } from '../../../versioning/family/family.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import { findRowsById } from '../deltas/find-named.ts'
import { RowsById } from '../deltas/named-rows.ts'
import type { RowEntry } from '../rows/row-entry.ts'
import type { WrittenRows } from './lay-rows.ts'
import { countChanges, writeRowTree } from './lay-rows.ts'
import { areColumnsCached, cacheColumns } from '../rows/listed-columns.ts'
import type { InputRow } from './input-row.ts'
import type { TestsetLimits } from './row-collector.ts'
import { RowCollector } from './row-collector.ts'
import { rowKeys } from '../dedup/row-index.ts'
import { ROW_KEYS_FILE } from '../dedup/row-keys.ts'
import { countRows, editRows, rowCounts } from '../rows/row-tree.ts'
import { allRows } from '../rows/stored-rows.ts'
import type {
  CollectedTestset,
  ByIdTestset,
  InputTestset,
  LaidRows,
  TestsetPayload,
} from '../testset-payload.ts'
import { readTestset, rowsIn, writeTestsetEntries } from '../testset-tree.ts'

/** Writes a testset onto the one in the parent's root, such that git shows the rows that changed and no others. */
export async function writeTestset(
  target: PayloadTarget,
  payload: TestsetPayload,
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<Omit<WrittenPayload, 'stored'>> {
  if (payload.kind === 'stored')
    return { entries: writeTestsetEntries(target, payload.tree, payload.columns) }
  if (payload.kind === 'edited') {
    const { base, changes, columns, met } = payload
    const edited = await editRows(target, base.tree, changes)
    if (areColumnsCached(base)) cacheColumns({ kind: 'stored', tree: edited, columns })
    const countAll = async (): Promise<ChangedRows | undefined> => {
      if (base.tree !== rowsIn(before)) return undefined
      const [old, now] = [
        await countRows(target, base.tree, rowCounts),
        await countRows(target, edited, rowCounts),
      ]
      return countChanges(changes, now - old)
    }
    return { entries: writeTestsetEntries(target, edited, columns), changedRows: countAll, met }
  }
  const { tree, columns, changedRows, met } = await laid(target, payload, before, limits)
  if (tree !== undefined) rowKeys.keep(tree, target.derived?.(ROW_KEYS_FILE))
  if (payload.kind !== 'named') cacheColumns({ kind: 'stored', tree, columns })
  return {
    entries: writeTestsetEntries(target, tree, columns),
    changedRows: () => changedRows,
    met,
  }
}

/** The folder of the rows and their columns: as they were laid already if the parent is the one they were laid over. */
async function laid(
  target: PayloadTarget,
  payload: InputTestset | ByIdTestset | CollectedTestset,
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<Pick<CollectedTestset, 'columns' | 'met'> & LaidRows> {
  const onto = rowsIn(before)
  if (payload.kind === 'collected') {
    if (payload.pack) target.adopt(payload.pack)
    const { laid: done, columns, met } = payload
    if (done && done.onto === onto) return { ...done, columns, ...(met && { met }) }
  }
  const slice = new TimeSlice()
  const base = { tree: onto, rows: await allRows(target, onto, slice) }
  const { rows, columns, met } = await collected(target, payload, { before, base, limits, slice })
  return { ...(await writeRowTree(target, rows, base, slice)), columns, ...(met && { met }) }
}

async function collected(
  target: PayloadTarget,
  payload: InputTestset | ByIdTestset | CollectedTestset,
  onto: {
    readonly before: readonly TreeEntry[]
    readonly base: WrittenRows
    readonly limits: TestsetLimits
    readonly slice: TimeSlice
  },
): Promise<CollectedTestset> {
  const { base, before, limits, slice } = onto
  if (payload.kind === 'collected') return payload
  if (payload.kind === 'sent') return collectInput(target, payload.rows, base.rows, limits, slice)
  return findRowsById(target, payload, base.rows, await readTestset(target, before), slice)
}

/** Writes rows of a request, which know the rows of the revision they replace by their ids (interface 8.9). */
async function collectInput(
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
