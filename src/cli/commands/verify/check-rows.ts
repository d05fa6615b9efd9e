import type { Oid } from '../../../git/objects/object.ts'
import { repeatedDedupIds } from '../../../resources/testsets/dedup/repeated-dedup-ids.ts'
import type { RowProblem } from '../../../resources/testsets/rows/row-problems.ts'
import { rowProblems } from '../../../resources/testsets/rows/row-problems.ts'
import { asStored } from '../../../resources/testsets/testset-payload.ts'
import type { PayloadCheck } from '../../../versioning/verify/verify-revisions.ts'

/**
 * A check of a testset's rows, for the revisions of one repository one after the other, by the rules that a push is held to. What
 * the revision before had, and a folder that any had, is not looked at again. Dedup ids must be unique in what a branch or tag names.
 */
export function rowCheck(): PayloadCheck {
  const seen = new Set<string>()
  let before: Oid | undefined
  return async (source, payload, { isTip }) => {
    const { tree } = asStored(payload)
    if (tree === undefined) return []
    const problems = await sentencesOf(rowProblems({ source, seen }, tree, before))
    before = tree
    // Who shares a dedup id can only be told of rows that decode.
    return isTip && problems.length === 0 ? sentencesOf(repeatedDedupIds(source, tree)) : problems
  }
}

async function sentencesOf(problems: AsyncIterable<RowProblem>): Promise<string[]> {
  const sentences = []
  for await (const { sentence } of problems)
    sentences.push(`${sentence}. Commit a repaired version with git.`)
  return sentences
}
