import { recentlyUsed } from '../../cache/recently-used.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { ObjectReader } from '../family/tree-files.ts'
import { readTree } from '../family/tree-files.ts'

/** How many files and folders lie below a tree. It never changes. */
const sizes = recentlyUsed<Oid, number>(500_000, () => 1)

/**
 * How many files and folders these entries of a tree are, with all that lies below them; once there are more than `most`, some number
 * above it. A few objects can unfold to more files than anybody could walk, because a tree may name one folder again and again:
 * each tree is read once, and never more entries than `most` are looked at.
 */
export async function unfoldedSize(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  most: number,
  slice: TimeSlice,
): Promise<number> {
  let size = entries.length
  for (const { mode, oid } of entries) {
    if (size > most) break
    if (mode !== '40000') continue
    size += sizes.get(oid) ?? (await sizeBelow(source, oid, most - size, slice))
  }
  return size
}

async function sizeBelow(source: ObjectReader, tree: Oid, most: number, slice: TimeSlice): Promise<number> {
  if (slice.isOver) await slice.rest()
  const size = await unfoldedSize(source, await readTree(source, tree), most, slice)
  if (size <= most) sizes.set(tree, size)
  return size
}
