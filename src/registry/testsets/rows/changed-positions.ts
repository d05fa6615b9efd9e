import type { Oid } from '../../../git/objects.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { ObjectReader } from '../../payload/tree-files.ts'
import { readBytes } from '../../payload/tree-files.ts'
import type { RowBlobs } from './row-entry.ts'
import type { RowFolder } from './row-folder.ts'
import { decodeRowFolder, emptyRowFolder } from './row-folder.ts'
import type { RowPosition } from './row-position.ts'
import { DEEPEST_POSITION } from './row-position.ts'
import { MOST_BARREN, tooManyFolders } from './row-tree.ts'

/** The row at a position before and after; undefined for none. */
export interface ChangedPosition {
  readonly position: RowPosition
  readonly before: RowBlobs | undefined
  readonly after: RowBlobs | undefined
}

export interface RowTrees {
  readonly before: Oid | undefined
  readonly after: Oid | undefined
}

/**
 * Yields, in order and in non-empty batches, the positions behind `behind` at which two `testcases` trees
 * differ in row or metadata. Reads only folders that differ. If a push may have brought a tree that repeats
 * one folder, call `countRows` on both first.
 */
export function changedPositions(
  source: ObjectReader,
  trees: RowTrees,
  behind: RowPosition,
  slice: TimeSlice,
): AsyncGenerator<readonly ChangedPosition[]> {
  return changedIn({ source, slice, barren: 0 }, trees, '', behind)
}

interface Walk {
  readonly source: ObjectReader
  readonly slice: TimeSlice
  /** Folders read since the last difference was found. */
  barren: number
}

async function* changedIn(
  walk: Walk,
  { before, after }: RowTrees,
  prefix: RowPosition,
  behind: RowPosition,
): AsyncGenerator<readonly ChangedPosition[]> {
  if (before === after) return
  await walk.slice.pause()
  if (++walk.barren > MOST_BARREN) throw tooManyFolders()
  const [old, now] = [await folderOf(walk, before), await folderOf(walk, after)]
  let batch: ChangedPosition[] = []
  for (let byte = 0; byte < 256; byte++) {
    const position = prefix + String.fromCharCode(byte)
    const [was, is] = [blobsAt(old, byte), blobsAt(now, byte)]
    const isChanged = was?.oid !== is?.oid || was?.meta !== is?.meta
    if (isChanged && position > behind) batch.push({ position, before: was, after: is })
    // A subfolder's positions begin with this position, so they may lie behind `behind`.
    const isBefore = position < behind && !behind.startsWith(position)
    const deeper = { before: old.folders[byte], after: now.folders[byte] }
    if (isBefore || deeper.before === deeper.after || position.length >= DEEPEST_POSITION) continue
    if (batch.length > 0) {
      walk.barren = 0
      yield batch
    }
    batch = []
    yield* changedIn(walk, deeper, position, behind)
  }
  if (batch.length === 0) return
  walk.barren = 0
  yield batch
}

async function folderOf({ source }: Walk, tree: Oid | undefined): Promise<RowFolder> {
  return tree === undefined ? emptyRowFolder() : decodeRowFolder(await readBytes(source, tree, 'tree'))
}

function blobsAt({ rows, metas }: RowFolder, byte: number): RowBlobs | undefined {
  const oid = rows[byte]
  return oid === undefined ? undefined : { oid, meta: metas[byte] }
}
