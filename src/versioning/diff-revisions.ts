import type { Oid } from '../git/object.ts'
import type { TreeEntry } from '../git/tree.ts'
import type { JsonPatchOperation } from '../json/json-patch.ts'
import { jsonPatch } from '../json/json-patch.ts'
import type { Registry } from './registry.ts'
import type { RevisionPlace } from './revision.ts'
import type { ObjectSource } from './tree-files.ts'
import { readBytes, readTree } from './tree-files.ts'
import { unifiedDiff } from './unified-diff.ts'

export interface RevisionDiff {
  /** RFC 6902: what turns the payload of `base` into that of `head`. */
  readonly patch: readonly JsonPatchOperation[]
  /** Each file of the trees that differs, as a unified text diff like `git diff` prints. */
  readonly files: readonly { readonly path: string; readonly diff: string }[]
}

/** The difference between two revisions of a family, of one artifact or of two (ruling 3.16). */
export async function diffRevisions(
  registry: Registry,
  base: RevisionPlace,
  head: RevisionPlace,
): Promise<RevisionDiff> {
  const [before, after] = await Promise.all([base, head].map((place) => readSide(registry, place)))
  if (!before || !after) throw new Error('a diff has two sides')
  const files = []
  for (const path of [...new Set([...before.files.keys(), ...after.files.keys()])].sort()) {
    const [old, now] = [before.files.get(path), after.files.get(path)]
    if (old === now) continue
    const [oldText, newText] = [
      old && (await textOf(base.artifact.repository.objects, old)),
      now && (await textOf(head.artifact.repository.objects, now)),
    ]
    files.push({ path, diff: unifiedDiff(path, oldText, newText) })
  }
  return { patch: jsonPatch(before.data, after.data), files }
}

async function readSide(
  registry: Registry,
  { artifact, oid }: RevisionPlace,
): Promise<{ data: Parameters<typeof jsonPatch>[0]; files: ReadonlyMap<string, Oid> }> {
  const { objects } = artifact.repository
  const stored = await registry.revisions(artifact.family).read(objects, oid)
  const files = new Map<string, Oid>()
  await collectFiles(objects, await readTree(objects, stored.commit.tree), '', files)
  return { data: stored.data, files }
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
