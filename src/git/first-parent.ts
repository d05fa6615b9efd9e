import type { Oid } from './object.ts'

/**
 * The first parent that a commit object names, undefined for a root. All a walk through a long history needs of each
 * commit, at a tenth of what `parseCommit` costs. The bytes must be a sound commit's, as `ObjectStore` answers them.
 */
export function firstParent(commit: Buffer): Oid | undefined {
  const line = commit.toString('latin1', TREE_LINE, TREE_LINE + PARENT_LINE)
  return line.startsWith('parent ') ? line.slice('parent '.length) : undefined
}

/** Both lines have a fixed length and stand first: "tree <40 digits>\n", "parent <40 digits>". */
const TREE_LINE = 46
const PARENT_LINE = 47
