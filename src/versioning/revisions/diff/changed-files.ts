import { Refusal } from '../../../errors.ts'
import type { Oid } from '../../../git/objects/object.ts'
import type { TreeEntry } from '../../../git/objects/tree.ts'
import type { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { ObjectReader } from '../../family/tree-files.ts'
import { readTree } from '../../family/tree-files.ts'

/** A file that is another one in two trees, or only in one of them. */
export interface ChangedFile {
  readonly path: string
  readonly before: Oid | undefined
  readonly after: Oid | undefined
}

/** A tree to compare: its entries, and where those below are read from. */
export interface TreeSide {
  readonly source: ObjectReader
  readonly entries: readonly TreeEntry[]
}

/** Entries of trees that a comparison looks at, and files that it finds. A tree that is the same on both sides is not looked into. */
const MOST_ENTRIES = 500_000
const MOST_FILES = 10_000
/** Characters of the paths that it finds. */
const LONGEST_PATHS = 16 * 1024 * 1024

/**
 * The files that differ between two trees, in order of path. Refuses with `limit_exceeded` when there are more than an answer can hold: git
 * may have brought trees that name one folder again and again.
 */
export async function changedFiles(
  before: TreeSide,
  after: TreeSide,
  slice: TimeSlice,
): Promise<readonly ChangedFile[]> {
  const files: ChangedFile[] = []
  let [looked, length] = [0, 0]
  await compare('', before.entries, after.entries)
  return files.sort((a, b) => (a.path < b.path ? -1 : 1))

  async function compare(
    folder: string,
    old: readonly TreeEntry[],
    now: readonly TreeEntry[],
  ): Promise<void> {
    looked += old.length + now.length
    if (looked > MOST_ENTRIES) throw tooDifferent()
    const names = new Map(now.map((entry): [string, Pair] => [entry.name, { now: entry }]))
    for (const entry of old) names.set(entry.name, { ...names.get(entry.name), old: entry })
    await slice.each(names, ([name, pair]) => {
      const path = `${folder}${name}`
      add(path, fileIn(pair.old), fileIn(pair.now))
      const [oldTree, newTree] = [folderIn(pair.old), folderIn(pair.now)]
      return oldTree === newTree ? undefined : compareBelow(`${path}/`, oldTree, newTree)
    })
  }

  async function compareBelow(folder: string, old: Oid | undefined, now: Oid | undefined): Promise<void> {
    const entriesOf = async (source: ObjectReader, tree: Oid | undefined): Promise<readonly TreeEntry[]> =>
      tree === undefined ? [] : readTree(source, tree)
    await compare(folder, await entriesOf(before.source, old), await entriesOf(after.source, now))
    if (slice.isOver) await slice.rest()
  }

  function add(path: string, old: Oid | undefined, now: Oid | undefined): void {
    if (old === now) return
    files.push({ path, before: old, after: now })
    length += path.length
    if (files.length > MOST_FILES || length > LONGEST_PATHS) throw tooDifferent()
  }
}

/** The entries of one name, of which one at least is there. */
interface Pair {
  readonly old?: TreeEntry
  readonly now?: TreeEntry
}

/** The refusal to compare what nobody could read. */
export function tooDifferent(): Refusal {
  return new Refusal(
    'limit_exceeded',
    `The revisions differ in more than ${MOST_FILES} files, or in more text than an answer can hold. Clone the repository and compare them ` +
      `there (git diff --stat).`,
    { details: { limit: MOST_FILES } },
  )
}

function fileIn(entry: TreeEntry | undefined): Oid | undefined {
  return entry?.mode === '100644' || entry?.mode === '100755' ? entry.oid : undefined
}

function folderIn(entry: TreeEntry | undefined): Oid | undefined {
  return entry?.mode === '40000' ? entry.oid : undefined
}
