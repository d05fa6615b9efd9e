import type { TreeEntry } from '../../../git/objects/tree.ts'
import type { ObjectReader } from '../../../versioning/family/tree-files.ts'
import { repeatedDedupIds } from '../dedup/repeated-dedup-ids.ts'
import type { TestsetLimits } from '../import/row-collector.ts'
import type { RowProblem } from './row-problems.ts'
import { rowProblems } from './row-problems.ts'
import { countRows, rowCounts } from './row-tree.ts'
import { ROWS_FOLDER, rowsIn } from '../testset-tree.ts'

/**
 * Looks at the rows that a push brought: throws an Error that names the file unless each is canonical JSON and a newline with a
 * dedup id of its own, and every file in the folder of rows is a row or what belongs to one. What lies where it lay in the
 * parent commit was looked at before. Costs the folders and blobs that changed, and of the others a comparison of 32 bits a row.
 */
export async function checkRows(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  before: readonly TreeEntry[],
  limits: TestsetLimits,
): Promise<void> {
  const { maxRowBytes } = limits
  const other = entries.find(({ name, mode }) => name === ROWS_FOLDER && mode !== '40000')
  if (other) throw new Error(`${ROWS_FOLDER} is a file, and must be the folder of rows`)
  const tree = rowsIn(entries)
  if (tree === undefined || tree === rowsIn(before)) return
  // First of all: walking it might never end.
  await assertCountable(source, entries, before, limits)
  const dedupKeys = new Set<number>()
  const look = { source, seen: new Set<string>(), maxRowBytes, dedupKeys }
  await assertNone(rowProblems(look, tree, rowsIn(before)))
  await assertNone(repeatedDedupIds(source, tree, dedupKeys))
}

/** Refuses more rows than there may be: a tree may name one folder again and again. */
export async function assertCountable(
  source: ObjectReader,
  entries: readonly TreeEntry[],
  before: readonly TreeEntry[],
  { maxRows }: TestsetLimits,
): Promise<void> {
  const tree = rowsIn(entries)
  if (tree === undefined || tree === rowsIn(before)) return
  if ((await countRows(source, tree, rowCounts)) > maxRows)
    throw new Error(`${ROWS_FOLDER} holds more than ${maxRows} rows, which is the most a testset may have`)
}

async function assertNone(problems: AsyncIterable<RowProblem>): Promise<void> {
  for await (const { sentence, isLayout } of problems) {
    throw new Error(isLayout ? `${sentence}. ${REMEDY}` : sentence)
  }
}

const REMEDY = 'Write it so with branchpoint canonicalise DIR, where DIR is your clone, and amend the commit'
