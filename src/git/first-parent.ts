import type { Oid } from './object.ts'

/**
 * The first parent that a commit object names, undefined for a root. All a walk through a long history needs of each
 * commit, at a tenth of what `parseCommit` costs. The bytes must be a sound commit's, as `ObjectStore` answers them.
 */
export function firstParent(commit: Buffer): Oid | undefined {
  // Next is "parent" or "author". Not cut out of its line, or whoever keeps the id would keep all of that.
  if (commit[PARENT_LINE] !== P) return undefined
  return commit.toString('latin1', PARENT_LINE + KEY, PARENT_LINE + KEY + 40)
}

/** The first line has a fixed length: "tree <40 digits>\n". */
const PARENT_LINE = 46
const KEY = 'parent '.length
const P = 0x70
