import type { Oid } from '../git/object.ts'
import type { TreeEntry } from '../git/tree.ts'
import type { DiffSide } from './family.ts'
import type { ObjectSource } from './tree-files.ts'
import { readBytes, readTree } from './tree-files.ts'
import { unifiedDiff } from './unified-diff.ts'

/** Each file of the trees that differs, as a unified text diff like `git diff` prints. */
export async function diffFiles(
  base: DiffSide,
  head: DiffSide,
): Promise<readonly { readonly path: string; readonly diff: string }[]> {
  const [before, after] = [await filesOf(base), await filesOf(head)]
  const files = []
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [old, now] = [before.get(path), after.get(path)]
    if (old === now) continue
    const [oldText, newText] = [
      old && (await textOf(base.source, old)),
      now && (await textOf(head.source, now)),
    ]
    files.push({ path, diff: unifiedDiff(path, oldText, newText) })
  }
  return files
}

async function filesOf({ source, entries }: DiffSide): Promise<ReadonlyMap<string, Oid>> {
  const files = new Map<string, Oid>()
  await collectFiles(source, entries, '', files)
  return files
}

async function collectFiles(
  source: ObjectSource,
  entries: readonly TreeEntry[],
  folder: string,
  into: Map<string, Oid>,
): Promise<void> {
  for (const { mode, name, oid } of entries) {
    const path = `${folder}${name}`
    if (mode === '40000') await collectFiles(source, await readTree(source, oid), `${path}/`, into)
    else if (mode === '100644' || mode === '100755') into.set(path, oid)
  }
}

async function textOf(source: ObjectSource, oid: Oid): Promise<string> {
  return (await readBytes(source, oid, 'blob')).toString('utf8')
}
