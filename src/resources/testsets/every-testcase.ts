import { parseCommit } from '../../git/commit.ts'
import type { Oid } from '../../git/object.ts'
import type { ArtifactView } from '../../versioning/artifact-view.ts'
import { readBytes, readTree } from '../../versioning/tree-files.ts'
import { allRows } from './stored-rows.ts'
import { testcaseId } from './testcase.ts'
import { rowsIn } from './testset-tree.ts'

/**
 * The ids of all testcases that a testset has or ever had, the oldest first: in order of revision, then of row. What only a tag
 * holds comes last.
 */
export async function everyTestcase({ id, repository, variants, tags }: ArtifactView): Promise<string[]> {
  const { objects, history } = repository
  const seen = new Set<Oid>()
  const commits = new Set<Oid>()
  const trees = new Set<Oid>()
  for (const head of [...variants.map((variant) => variant.head), ...tags.values()]) {
    const chain: Oid[] = []
    let node = head === undefined ? undefined : await history.node(head)
    for (; node && !commits.has(node.oid); node = node.parent) chain.push(node.oid)
    for (const oid of chain.reverse()) {
      commits.add(oid)
      const tree = rowsIn(await readTree(objects, parseCommit(await readBytes(objects, oid, 'commit')).tree))
      if (tree === undefined || trees.has(tree)) continue
      trees.add(tree)
      for (const row of await allRows(objects, tree)) seen.add(row.oid)
    }
  }
  return [...seen].map((oid) => testcaseId(oid, id))
}
