import type { Oid } from '../../../git/objects/object.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import { readBytes } from '../../../versioning/family/tree-files.ts'
import type { RowBlobs } from './row-entry.ts'
import type { RowFolder } from './row-folder.ts'
import { decodeRowFolder, emptyRowFolder } from './row-folder.ts'
import type { RowPosition } from './row-position.ts'
import { DEEPEST_POSITION } from './row-position.ts'

/** A position at which two trees of rows differ. */
export interface DifferingRow {
  readonly position: RowPosition
  readonly before: RowBlobs | undefined
  readonly after: RowBlobs | undefined
}

/** Where two trees of rows differ, in order. Folders that are the same in both are not read. */
export async function differingRows(
  source: ObjectReader,
  before: Oid | undefined,
  after: Oid | undefined,
  slice: TimeSlice,
): Promise<readonly DifferingRow[]> {
  const found: DifferingRow[] = []
  await compare(before, after, '')
  return found

  async function compare(old: Oid | undefined, now: Oid | undefined, prefix: RowPosition): Promise<void> {
    if (old === now || prefix.length >= DEEPEST_POSITION) return
    await slice.pause()
    const [was, is] = [await folderOf(old), await folderOf(now)]
    for (let byte = 0; byte < 256; byte++) {
      const position = prefix + String.fromCharCode(byte)
      const [one, other] = [blobsAt(was, byte), blobsAt(is, byte)]
      if (one?.oid !== other?.oid || one?.meta !== other?.meta)
        found.push({ position, before: one, after: other })
      await compare(was.folders[byte], is.folders[byte], position)
    }
  }

  async function folderOf(tree: Oid | undefined): Promise<RowFolder> {
    return tree === undefined ? emptyRowFolder() : decodeRowFolder(await readBytes(source, tree, 'tree'))
  }
}

function blobsAt(folder: RowFolder, byte: number): RowBlobs | undefined {
  const oid = folder.rows[byte]
  return oid === undefined ? undefined : { oid, meta: folder.metas[byte] }
}
