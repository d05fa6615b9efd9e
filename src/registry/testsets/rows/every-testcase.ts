import { parseCommit, type Oid } from '../../../git/objects.ts'
import type { TimeSlice } from '../../../base/scheduling.ts'
import type { ArtifactView } from '../../artifacts/artifact-view.ts'
import { readBytes, readTree } from '../../payload/tree-files.ts'
import { OidTable } from '../dedup/oid-table.ts'
import { OID_BYTES, scanRowFolder } from './row-folder.ts'
import { DEEPEST_POSITION } from './row-position.ts'
import { rowsIn } from '../testset-tree.ts'

/**
 * The rows of all testcases that a testset has or ever had, ordered by revision (oldest first), then by row.
 * Rows that only a tag holds come last. Reads each folder once.
 */
export async function everyTestcase(
  { repository, variants, tags }: ArtifactView,
  slice: TimeSlice,
): Promise<readonly Oid[]> {
  const { objects, history } = repository
  const commits = new Set<Oid>()
  const look: Look = { source: objects, slice, folders: new Set(), seen: new OidTable(), rows: [] }
  for (const head of [...variants.map((variant) => variant.head), ...tags.values()]) {
    const chain: Oid[] = []
    let node = head === undefined ? undefined : await history.node(head)
    for (; node && !commits.has(node.oid); node = node.parent) chain.push(node.oid)
    for (const oid of chain.reverse()) {
      commits.add(oid)
      const tree = rowsIn(await readTree(objects, parseCommit(await readBytes(objects, oid, 'commit')).tree))
      if (tree !== undefined) await lookInto(look, tree, 0)
      if (slice.isOver) await slice.rest()
    }
  }
  return look.rows
}

interface Look {
  readonly source: ArtifactView['repository']['objects']
  readonly slice: TimeSlice
  /** The folders already read, with their depth. */
  readonly folders: Set<string>
  readonly seen: OidTable
  readonly rows: Oid[]
}

async function lookInto(look: Look, tree: Oid, depth: number): Promise<void> {
  const { source, slice, folders, seen, rows } = look
  const key = `${tree} ${depth}`
  if (depth === DEEPEST_POSITION || folders.has(key)) return
  folders.add(key)
  const bytes = await readBytes(source, tree, 'tree')
  const found: { readonly kind: 'row' | 'folder'; readonly at: number }[] = []
  scanRowFolder(bytes, (kind, _byte, _entryAt, at) => {
    if (kind === 'row' || kind === 'folder') found.push({ kind, at })
  })
  // git sorts entries in the order of the rows
  for (const { kind, at } of found) {
    const oid = bytes.toString('hex', at, at + OID_BYTES)
    if (kind === 'folder') await lookInto(look, oid, depth + 1)
    else if (!seen.has(oid)) {
      seen.add(bytes, at)
      rows.push(oid)
    }
  }
  if (slice.isOver) await slice.rest()
}
