import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects/object.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ChangedRows } from '../../../versioning/family/family.ts'
import type { ObjectReader, ObjectSink } from '../../../versioning/family/tree-files.ts'
import { rowKeys } from '../dedup/row-index.ts'
import type { RowChange, RowEntry } from '../rows/row-entry.ts'
import { editRows } from '../rows/row-tree.ts'
import { decodeRow, dedupIdOf } from '../rows/stored-row.ts'
import { readBlobs } from '../rows/stored-rows.ts'
import type { CollectedRow, LaidRows } from '../testset-payload.ts'
import { assignPositions, rowChanges } from './place-rows.ts'

/** The rows of a testset as they lie in a commit: the folder, and what is in it. */
export interface WrittenRows {
  /** Undefined if there are none. */
  readonly tree: Oid | undefined
  readonly rows: readonly RowEntry[]
}

/**
 * Lays rows whose blobs are written over those of `base`, such that git shows the rows that changed and no others, and answers
 * the folder that holds them and what that changed. What is known of them is noted, so that the next change reads no blob.
 */
export async function writeRowTree(
  target: ObjectReader & ObjectSink,
  rows: readonly CollectedRow[],
  base: WrittenRows,
  slice: TimeSlice,
): Promise<LaidRows> {
  const keysOfBase = (indexes: readonly number[]) => dedupIdsAt(target, base.rows, indexes, slice)
  const positions = await assignPositions(base.rows, rows, keysOfBase, slice)
  const placed: RowEntry[] = []
  await slice.each(rows, ({ oid, meta }, index) =>
    placed.push({ position: positions[index] ?? '', oid, meta }),
  )
  const changes = await rowChanges(base.rows, placed, slice)
  const tree = await editRows(target, base.tree, changes, slice)
  if (tree !== undefined) await rowKeys.seed(target, tree, rows.values(), slice)
  return { tree, changedRows: countChanges(changes, placed.length - base.rows.length) }
}

/** What changes do to rows of which there are `more` afterwards; each removes one that is there, or sets one to what it was not. */
export function countChanges(changes: Iterable<RowChange>, more: number): ChangedRows {
  let [set, removed] = [0, 0]
  for (const [, row] of changes) {
    if (row) set++
    else removed++
  }
  const added = more + removed
  return { added, changed: set - added, removed }
}

async function dedupIdsAt(
  source: ObjectReader,
  base: readonly RowEntry[],
  indexes: readonly number[],
  slice: TimeSlice,
): Promise<(string | undefined)[]> {
  const oids = indexes.flatMap((index) => base[index]?.oid ?? [])
  const dedupIds: (string | undefined)[] = []
  for (let at = 0; at < oids.length; at += AT_ONCE) {
    for (const bytes of await readBlobs(source, oids.slice(at, at + AT_ONCE))) dedupIds.push(dedupIdIn(bytes))
    if (slice.isOver) await slice.rest()
  }
  return dedupIds
}

/** A row that git damaged has none, so that other rows can take its place. */
function dedupIdIn(bytes: Buffer): string | undefined {
  try {
    return dedupIdOf(decodeRow(bytes))
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

const AT_ONCE = 512
