import { diffArrays } from 'diff'

/** A line of one side, with its number, from 1. */
export interface NumberedLine {
  readonly number: number
  readonly text: string
}

/** A row with the old and the new line. A row with one side was added or removed. */
export interface LineRow {
  readonly base?: NumberedLine
  readonly head?: NumberedLine
  /** Both sides are equal. */
  readonly isSame: boolean
}

/** What changed between two texts, line by line. */
export interface LineDiff {
  readonly rows: readonly LineRow[]
  /** Numbers of lines; a changed line counts for both. */
  readonly added: number
  readonly removed: number
  /** The number of runs of changed lines. */
  readonly changes: number
  /** If lines are left out: for the row where they continue, the line numbers. */
  readonly hunks?: ReadonlyMap<number, Hunk>
}

/** The first line, from 1, and the number of lines. */
export interface Hunk {
  readonly base: { readonly start: number; readonly lines: number }
  readonly head: { readonly start: number; readonly lines: number }
}

/** Compares two texts by lines; undefined means that there is none. */
export function lineDiff(base: string | undefined, head: string | undefined): LineDiff {
  const [before, after] = [linesOf(base), linesOf(head)]
  const matches = base === undefined || head === undefined ? [] : matchesOf(before, after)
  return diffOfMatches(before, after, matches)
}

function linesOf(text: string | undefined): readonly string[] {
  return text === undefined ? [] : text.split('\n')
}

function diffOfMatches(
  before: readonly string[],
  after: readonly string[],
  matches: readonly Match[],
): LineDiff {
  const rows: LineRow[] = []
  let [added, removed, changes] = [0, 0, 0]
  let [baseAt, headAt] = [0, 0]
  for (const [base, head] of [...matches, [before.length, after.length] as const]) {
    if (base > baseAt || head > headAt) {
      changes++
      removed += base - baseAt
      added += head - headAt
      const [old, now] = [numbered(before, baseAt, base), numbered(after, headAt, head)]
      for (const row of besideEachOther(old, now)) rows.push(row)
    }
    if (base < before.length && head < after.length) {
      rows.push({
        base: { number: base + 1, text: before[base] ?? '' },
        head: { number: head + 1, text: after[head] ?? '' },
        isSame: true,
      })
    }
    ;[baseAt, headAt] = [base + 1, head + 1]
  }
  return { rows, added, removed, changes }
}

function numbered(lines: readonly string[], from: number, to: number): NumberedLine[] {
  return lines.slice(from, to).map((text, at) => ({ number: from + at + 1, text }))
}

/** Rows of changed lines, with similar lines beside each other. */
export function besideEachOther(base: readonly NumberedLine[], head: readonly NumberedLine[]): LineRow[] {
  const pairs = pairInOrder(
    base.map(({ text }) => text),
    head.map(({ text }) => text),
  )
  const rows: LineRow[] = []
  let [baseAt, headAt] = [0, 0]
  const zip = (baseTo: number, headTo: number): void => {
    while (baseAt < baseTo || headAt < headTo) {
      const left = baseAt < baseTo ? base[baseAt++] : undefined
      const right = headAt < headTo ? head[headAt++] : undefined
      rows.push({ ...(left ? { base: left } : {}), ...(right ? { head: right } : {}), isSame: false })
    }
  }
  for (const [left, right] of pairs) {
    zip(left, right)
    zip(left + 1, right + 1)
  }
  zip(base.length, head.length)
  return rows
}

/** The search for the shortest edit script gives up after this many edits: it takes quadratic time. */
const MOST_LINE_EDITS = 600

/** Two indices with equal elements: in the base and in the head. */
type Match = readonly [base: number, head: number]

/**
 * The common elements of two lists, in order. Elements of one list only are removed before the search, so that completely different lists cost no
 * more than equal ones.
 */
export function matchesOf(base: readonly string[], head: readonly string[]): readonly Match[] {
  const most = Math.min(base.length, head.length)
  let first = 0
  while (first < most && base[first] === head[first]) first++
  let last = 0
  while (last < most - first && base[base.length - 1 - last] === head[head.length - 1 - last]) last++
  const matches: Match[] = []
  for (let at = 0; at < first; at++) matches.push([at, at])
  for (const match of middleMatches(base, head, first, last)) matches.push(match)
  for (let at = last; at > 0; at--) matches.push([base.length - at, head.length - at])
  return matches
}

function middleMatches(
  base: readonly string[],
  head: readonly string[],
  first: number,
  last: number,
): Match[] {
  const [inBase, inHead] = [placesOfCommon(base, head, first, last), placesOfCommon(head, base, first, last)]
  if (inBase.length === 0 || inHead.length === 0) return []
  const parts = diffArrays(
    inBase.map((at) => base[at]),
    inHead.map((at) => head[at]),
    { maxEditLength: MOST_LINE_EDITS },
  )
  if (!parts) return anchors(base, head, inBase, inHead)
  const matches: Match[] = []
  let [baseAt, headAt] = [0, 0]
  for (const { added, removed, count } of parts) {
    if (!added && !removed) {
      for (let at = 0; at < count; at++) matches.push([inBase[baseAt + at] ?? 0, inHead[headAt + at] ?? 0])
    }
    if (!added) baseAt += count
    if (!removed) headAt += count
  }
  return matches
}

/** Elements that occur once in both lists and keep their order: the fallback if too much was moved. */
function anchors(
  base: readonly string[],
  head: readonly string[],
  inBase: readonly number[],
  inHead: readonly number[],
): Match[] {
  const [places, counts] = [new Map<string, number>(), new Map<string, number>()]
  for (const at of inBase) {
    const element = base[at] ?? ''
    counts.set(element, (counts.get(element) ?? 0) + 1)
    places.set(element, at)
  }
  const isOnce = new Set<string>()
  const repeated = new Set<string>()
  for (const at of inHead) (isOnce.has(head[at] ?? '') ? repeated : isOnce).add(head[at] ?? '')
  const found = inHead.map((at) => {
    const element = head[at] ?? ''
    return counts.get(element) === 1 && !repeated.has(element) ? places.get(element) : undefined
  })
  return longestRising(found).map((at): Match => [found[at] ?? 0, inHead[at] ?? 0])
}

/** The indices of the longest increasing subsequence; undefined elements are skipped. */
export function longestRising(numbers: readonly (number | undefined)[]): readonly number[] {
  /** tails[n]: the index of the lowest end of an increasing run of length n + 1. */
  const tails: number[] = []
  const before = new Map<number, number | undefined>()
  for (const [at, number] of numbers.entries()) {
    if (number === undefined) continue
    let [low, high] = [0, tails.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((numbers[tails[middle] ?? 0] ?? 0) < number) low = middle + 1
      else high = middle
    }
    before.set(at, tails[low - 1])
    tails[low] = at
  }
  const run: number[] = []
  for (let at = tails.at(-1); at !== undefined; at = before.get(at)) run.push(at)
  return run.reverse()
}

/** The indices, without the common start and end, of elements that the other list has, too. */
function placesOfCommon(
  list: readonly string[],
  other: readonly string[],
  first: number,
  last: number,
): number[] {
  const known = new Set(other.slice(first, other.length - last))
  const places: number[] = []
  for (let at = first; at < list.length - last; at++) {
    if (known.has(list[at] ?? '')) places.push(at)
  }
  return places
}

/** More pairs than this are not compared. */
const MOST_PAIRS = 1200

/**
 * Pairs elements of two short lists in order, so that the most similar ones are beside each other; of long lists, the first with the first and so
 * on.
 */
export function pairInOrder(base: readonly string[], head: readonly string[]): readonly Match[] {
  if (base.length === head.length || base.length * head.length > MOST_PAIRS) {
    return Array.from({ length: Math.min(base.length, head.length) }, (_, at): Match => [at, at])
  }
  const words = [base.map(wordsOf), head.map(wordsOf)] as const
  // best[i][j]: the highest total similarity of pairs from i in base and j in head.
  const best = Array.from({ length: base.length + 1 }, () => new Float64Array(head.length + 1))
  const scores = words[0].map((left) => words[1].map((right) => likeness(left, right)))
  const at = (i: number, j: number): number => best[i]?.[j] ?? 0
  const score = (i: number, j: number): number => scores[i]?.[j] ?? 0
  for (let i = base.length - 1; i >= 0; i--) {
    const row = best[i] as Float64Array
    for (let j = head.length - 1; j >= 0; j--) {
      row[j] = Math.max(at(i + 1, j), at(i, j + 1), score(i, j) + at(i + 1, j + 1))
    }
  }
  const pairs: Match[] = []
  for (let i = 0, j = 0; i < base.length && j < head.length;) {
    if (score(i, j) > 0 && at(i, j) === score(i, j) + at(i + 1, j + 1)) pairs.push([i++, j++])
    else if (at(i, j) === at(i + 1, j)) i++
    else j++
  }
  return pairs
}

/** The words of a text with their counts; of a long text, of its start. */
export function wordsOf(text: string): ReadonlyMap<string, number> {
  const words = new Map<string, number>()
  for (const word of text.slice(0, 20_000).match(/[\p{L}\p{N}_]+/gu) ?? [])
    words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

/** The similarity of two texts by their words, from 0 to 1. */
export function likeness(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): number {
  let [common, all] = [0, 0]
  for (const [word, count] of left) {
    common += Math.min(count, right.get(word) ?? 0)
    all += count
  }
  for (const count of right.values()) all += count
  return all === 0 ? 0 : (2 * common) / all
}

/** A part of a line, and whether it changed. */
export interface Part {
  readonly text: string
  readonly isChanged: boolean
}

/** The parts of two texts. */
export interface WordMarks {
  readonly base: readonly Part[]
  readonly head: readonly Part[]
}

/** Longer lines get one mark, between their common start and end. */
const LONG_LINES = 4000
const MOST_WORD_EDITS = 400
/** Lines with less in common are not marked: too many marks are hard to read. */
const LEAST_SHARED = 0.25

/** The changed words of two lines; undefined if they have too little in common. */
export function wordMarks(base: string, head: string): WordMarks | undefined {
  if (base.length + head.length > LONG_LINES) return middleMarks(base, head)
  const parts = diffArrays(tokensOf(base), tokensOf(head), { maxEditLength: MOST_WORD_EDITS })
  if (!parts) return middleMarks(base, head)
  const marks: { base: Part[]; head: Part[] } = { base: [], head: [] }
  let shared = 0
  for (const [at, { value, added, removed }] of parts.entries()) {
    const text = value.join('')
    // White space between two changed words counts as changed.
    const isGap = at > 0 && at < parts.length - 1 && text.trim() === ''
    const isChanged = added || removed || isGap
    if (!isChanged) shared += text.trim().length
    if (!added) push(marks.base, text, isChanged)
    if (!removed) push(marks.head, text, isChanged)
  }
  const shorter = Math.min(base.trim().length, head.trim().length)
  return shorter > 0 && shared / shorter < LEAST_SHARED ? undefined : marks
}

/** Words, runs of white space, and single other characters. */
function tokensOf(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}_]+|\s+|[^]/gu) ?? []
}

function push(parts: Part[], text: string, isChanged: boolean): void {
  const last = parts.at(-1)
  if (last?.isChanged === isChanged) parts[parts.length - 1] = { text: last.text + text, isChanged }
  else parts.push({ text, isChanged })
}

/** One mark from the first to the last different character. */
function middleMarks(base: string, head: string): WordMarks | undefined {
  const most = Math.min(base.length, head.length)
  let first = 0
  while (first < most && base[first] === head[first]) first++
  let last = 0
  while (last < most - first && base[base.length - 1 - last] === head[head.length - 1 - last]) last++
  // Surrogate pairs are not split.
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
