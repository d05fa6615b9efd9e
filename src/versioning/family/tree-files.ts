import { Refusal } from '../../errors.ts'
import type { GitObject, Oid } from '../../git/objects/object.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import { encodeTree, parseTree } from '../../git/objects/tree.ts'

/** Where objects are read from: a repository, or a transaction on one. */
export interface ObjectReader {
  read(oid: Oid): Promise<GitObject | undefined>
  /** The folder of the repository, where it is one. */
  readonly gitdir?: string | undefined
}

/** The entries of a tree; refuses what is missing or no tree. */
export async function readTree(source: ObjectReader, oid: Oid): Promise<readonly TreeEntry[]> {
  return parseTree(await readBytes(source, oid, 'tree'))
}

/** The bytes of an object of the given kind; refuses what is missing or of another kind. */
export async function readBytes(source: ObjectReader, oid: Oid, kind: GitObject['kind']): Promise<Buffer> {
  const object = await source.read(oid)
  if (object?.kind === kind) return object.bytes
  const found = object ? `is a ${object.kind}` : 'is missing from the repository'
  throw new Refusal('damaged_repository', `The ${kind} ${oid} ${found}. Restore the repository from a clone.`)
}

/** Where new objects go: a transaction. */
export interface ObjectSink {
  write(kind: GitObject['kind'], bytes: Buffer): Oid
}

/** Writes a blob and answers the tree entry that names it. */
export function writeFile(sink: ObjectSink, name: string, bytes: Buffer): TreeEntry {
  return { mode: '100644', name, oid: sink.write('blob', bytes) }
}

/** Writes a tree of these entries. */
export function writeTree(sink: ObjectSink, entries: readonly TreeEntry[]): Oid {
  return sink.write('tree', encodeTree(entries))
}

/** The entries with those of the same names replaced, or added. */
export function replaceEntries(entries: readonly TreeEntry[], changes: readonly TreeEntry[]): TreeEntry[] {
  const changed = new Set(changes.map((entry) => entry.name))
  return [...entries.filter((entry) => !changed.has(entry.name)), ...changes]
}
