import { type Match, matchesOf, pairInOrder } from './align.ts'

/** A line of one side, with its number, from 1. */
export interface NumberedLine {
  readonly number: number
  readonly text: string
}

/** Lines that stand beside each other. One that has only one side was added or removed. */
export interface LineRow {
  readonly base?: NumberedLine
  readonly head?: NumberedLine
  /** Both sides hold the same. */
  readonly isSame: boolean
}

/** What changed between two texts, line by line. */
export interface LineDiff {
  readonly rows: readonly LineRow[]
  /** Lines, a changed one counts for both. */
  readonly added: number
  readonly removed: number
  /** Runs of lines that changed. */
  readonly changes: number
  /** Of a comparison that leaves lines out: the rows before which it does, and which lines follow. */
  readonly hunks?: ReadonlyMap<number, Hunk>
}

/** Which lines follow: numbers from 1, and how many there are. */
export interface Hunk {
  readonly base: { readonly start: number; readonly lines: number }
  readonly head: { readonly start: number; readonly lines: number }
}

/** Compares two texts by their lines; undefined where there is none. */
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

/** Rows of lines that changed, those that are alike beside each other. */
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
