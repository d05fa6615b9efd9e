import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'
import { AlignmentSteps } from '../../../json/diff/align-numbers.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import { diffLines, replaceLines } from './diff-lines.ts'

/** So many changed lines are aligned; past that, texts that have little in common would cost the square of it. */
const MOST_EDITS = 1000

/** Texts that have so many characters together, and no more changed lines than so many, are compared in some milliseconds. */
const LARGE = 100_000
const FEW_EDITS = 200

/** How many steps of alignment the files of one comparison may take, all together; the others are shown as removed and added whole. */
export const STEPS_OF_DIFF = 8_000_000

/**
 * A file's change as `git diff` prints it, without the lines that only git needs; undefined stands for a file that is not
 * there. Two texts with too little in common are shown as removed and added whole. Large ones are compared in slices.
 */
export async function unifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  slice = new TimeSlice(),
  steps = new AlignmentSteps(STEPS_OF_DIFF),
): Promise<string> {
  const [oldName, newName] = [
    before === undefined ? '/dev/null' : `a/${path}`,
    after === undefined ? '/dev/null' : `b/${path}`,
  ]
  const [oldText, newText] = [before ?? '', after ?? '']
  if (oldText.length + newText.length <= LARGE) {
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: FEW_EDITS }
    const diff = createTwoFilesPatch(oldName, newName, oldText, newText, undefined, undefined, options)
    if (diff !== undefined) return diff
  }
  const hunks =
    (await diffLines(oldText, newText, MOST_EDITS, steps, slice)) ??
    (await replaceLines(oldText, newText, slice))
  return `--- ${oldName}\n+++ ${newName}\n${hunks}`
}
