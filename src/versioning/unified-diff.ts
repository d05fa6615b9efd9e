import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff'

/** So many changed lines are aligned; past that, texts that have little in common would cost the square of it. */
const MOST_EDITS = 1000

/**
 * A file's change as `git diff` prints it, without the lines that only git needs; undefined stands for a file that is not
 * there. Two texts with too little in common are shown as removed and added whole.
 */
export function unifiedDiff(path: string, before: string | undefined, after: string | undefined): string {
  const [oldName, newName] = [
    before === undefined ? '/dev/null' : `a/${path}`,
    after === undefined ? '/dev/null' : `b/${path}`,
  ]
  const [oldText, newText] = [before ?? '', after ?? '']
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY, maxEditLength: MOST_EDITS }
  const diff = createTwoFilesPatch(oldName, newName, oldText, newText, undefined, undefined, options)
  return diff ?? `--- ${oldName}\n+++ ${newName}\n${wholeHunk(oldText, newText)}`
}

function wholeHunk(oldText: string, newText: string): string {
  const [removed, added] = [linesOf(oldText), linesOf(newText)]
  const lines = [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]
  return `@@ -1,${removed.length} +1,${added.length} @@\n${lines.join('\n')}\n`
}

function linesOf(text: string): string[] {
  return text.replace(/\n$/, '').split('\n')
}
