import { diffArrays } from 'diff'

/** A part of a line, and whether the other side lacks it. */
export interface Part {
  readonly text: string
  readonly isChanged: boolean
}

export interface WordMarks {
  readonly base: readonly Part[]
  readonly head: readonly Part[]
}

/** Longer lines are marked between what both begin and end with. */
const LONG = 4000
const MOST_EDITS = 400
/** Lines that share less of their letters are shown as a whole: marks all over would hide what they say. */
const LEAST_SHARED = 0.25

/** Which words of two lines differ; undefined where the lines have too little in common for marks to help. */
export function wordMarks(base: string, head: string): WordMarks | undefined {
  if (base.length + head.length > LONG) return middleMarks(base, head)
  const parts = diffArrays(tokensOf(base), tokensOf(head), { maxEditLength: MOST_EDITS })
  if (!parts) return middleMarks(base, head)
  const marks: { base: Part[]; head: Part[] } = { base: [], head: [] }
  let shared = 0
  for (const [at, { value, added, removed }] of parts.entries()) {
    const text = value.join('')
    // A gap between two words that changed reads as part of the change.
    const isGap = at > 0 && at < parts.length - 1 && text.trim() === ''
    const isChanged = added || removed || isGap
    if (!isChanged) shared += text.trim().length
    if (!added) push(marks.base, text, isChanged)
    if (!removed) push(marks.head, text, isChanged)
  }
  const shorter = Math.min(base.trim().length, head.trim().length)
  return shorter > 0 && shared / shorter < LEAST_SHARED ? undefined : marks
}

/** Words, runs of white space, and every other character by itself. */
function tokensOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu) ?? []
}

function push(parts: Part[], text: string, isChanged: boolean): void {
  const last = parts.at(-1)
  if (last?.isChanged === isChanged) parts[parts.length - 1] = { text: last.text + text, isChanged }
  else parts.push({ text, isChanged })
}

/** One mark for all between the first and the last character that differ. */
function middleMarks(base: string, head: string): WordMarks | undefined {
  const most = Math.min(base.length, head.length)
  let first = 0
  while (first < most && base[first] === head[first]) first++
  let last = 0
  while (last < most - first && base[base.length - 1 - last] === head[head.length - 1 - last]) last++
  // Half of a character outside the basic plane is no text.
  if (/[\uD800-\uDBFF]/.test(base[first - 1] ?? '')) first--
  if (/[\uDC00-\uDFFF]/.test(base[base.length - last] ?? '')) last--
  if (first + last < LEAST_SHARED * most) return undefined
  const partsOf = (text: string): Part[] =>
    [
      { text: text.slice(0, first), isChanged: false },
      { text: text.slice(first, text.length - last), isChanged: true },
      { text: text.slice(text.length - last), isChanged: false },
    ].filter(({ text: part }) => part !== '')
  return { base: partsOf(base), head: partsOf(head) }
}
