import { groupBy } from '../../base/json.ts'
import type { InSlices } from '../../base/scheduling.ts'
import type { PlacedText } from './placed-text.ts'

/** Texts with more lines than this, on both sides together, are not compared by lines … */
const MAX_LINES = 100_000
/** … and neither are more pairs of texts than this. */
const MAX_PAIRS = 65_536
/** The maximum number of pairs of equal texts that are sorted by distance, in all groups together. */
const MAX_SAME_PAIRS = 262_144

/**
 * Finds for each text the text of `before` that it continues (interface 7.16). Each is used at most once. The order is: an equal text, at the same
 * place or else the nearest; then the one with most common lines, at least half of the longer; then the one at the same place, where messages of
 * one role are counted in order. Apart from one pass over the texts, the work is bounded.
 */
export function* matchTexts<T extends PlacedText, B extends PlacedText>(
  texts: readonly T[],
  before: readonly B[],
): InSlices<ReadonlyMap<T, B>> {
  const found = new Map<T, B>()
  const byPointer = new Map<string, B>()
  for (const earlier of before) byPointer.set(earlier.pointer, earlier)
  const left: T[] = []
  for (const text of texts) {
    const own = byPointer.get(text.pointer)
    if (own?.text === text.text) found.set(text, own)
    else left.push(text)
  }
  yield
  const [first] = left
  const isOneLeft = left.length === 1 && before.length === found.size + 1
  // If one text is left on each side, at one place, every rule gives the same pair, or none.
  const edited = isOneLeft && first ? byPointer.get(first.pointer) : undefined
  if (first && edited) found.set(first, edited)
  else if (first) yield* matchOthers(texts, before, { found, taken: new Set(found.values()) })
  return found
}

function* matchOthers(
  texts: readonly PlacedText[],
  before: readonly PlacedText[],
  matches: Matches,
): InSlices<void> {
  for (const rule of [matchSame, matchByLines, matchByPlace]) {
    yield
    const left = unmatched(texts, matches.found)
    const earlier = unmatched(before, matches.taken)
    if (left.length === 0 || earlier.length === 0) return
    yield* rule(left, earlier, matches)
  }
}

/** What is matched so far. */
interface Matches {
  readonly found: Map<PlacedText, PlacedText>
  /** The candidates in `before` for a text. */
  readonly taken: Set<PlacedText>
}

function match({ text }: Standing, { text: earlier }: Standing, { found, taken }: Matches): void {
  found.set(text, earlier)
  taken.add(earlier)
}

/** A text with its position among the texts of its side. */
interface Standing {
  readonly text: PlacedText
  readonly at: number
}

function unmatched(texts: readonly PlacedText[], matched: { has(text: PlacedText): boolean }): Standing[] {
  const left: Standing[] = []
  for (const [at, text] of texts.entries()) if (!matched.has(text)) left.push({ text, at })
  return left
}

function* matchSame(
  left: readonly Standing[],
  earlier: readonly Standing[],
  matches: Matches,
): InSlices<void> {
  const same = groupBy(earlier, ({ text }) => text.text)
  yield
  const groups = groupBy(left, ({ text }) => text.text)
  yield
  let pairsLeft = MAX_SAME_PAIRS
  for (const [words, group] of groups) {
    const others = same.get(words)
    if (!others) continue
    const count = group.length * others.length
    if (count > MAX_PAIRS || (pairsLeft -= count) < 0) matchInOrder(group, others, matches)
    else matchBest(pairsOf(group, others), matches)
    yield
  }
}

function pairsOf(group: readonly Standing[], others: readonly Standing[]): Pair[] {
  return group.flatMap((it) => others.map((earlier) => ({ it, earlier, rank: 0 })))
}

function matchInOrder(group: readonly Standing[], others: readonly Standing[], matches: Matches): void {
  for (const [index, other] of others.entries()) {
    const next = group[index]
    if (!next) return
    match(next, other, matches)
  }
}

function* matchByLines(
  left: readonly Standing[],
  earlier: readonly Standing[],
  matches: Matches,
): InSlices<void> {
  if (left.length * earlier.length > MAX_PAIRS) return
  let count = 0
  for (const { text } of [...left, ...earlier]) if ((count += linesIn(text.text)) > MAX_LINES) return
  yield
  const ofEarlier = earlier.map(({ text }) => numberedLines(text.text))
  yield
  const holders = new Map<string, number[]>()
  for (const [index, lines] of ofEarlier.entries()) {
    for (const line of lines) {
      const known = holders.get(line)
      if (known) known.push(index)
      else holders.set(line, [index])
    }
    yield
  }
  const pairs: Pair[] = []
  for (const it of left) {
    const lines = numberedLines(it.text.text)
    const common = new Uint32Array(earlier.length)
    for (const line of lines)
      for (const index of holders.get(line) ?? []) common[index] = (common[index] ?? 0) + 1
    for (const [index, other] of earlier.entries()) {
      const share = (common[index] ?? 0) / Math.max(lines.length, ofEarlier[index]?.length ?? 0)
      if (share >= 0.5) pairs.push({ it, earlier: other, rank: -share })
    }
    yield
  }
  matchBest(pairs, matches)
}

function linesIn(text: string): number {
  let count = 1
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', feed + 1)) count++
  return count
}

/** The lines of a text, each with the number of its occurrences so far, so that equal lines of two texts are counted correctly. */
function numberedLines(text: string): string[] {
  const times = new Map<string, number>()
  const lines = text.split('\n')
  for (const [at, line] of lines.entries()) {
    const time = (times.get(line) ?? 0) + 1
    times.set(line, time)
    lines[at] = `${time} ${line}`
  }
  return lines
}

function* matchByPlace(
  left: readonly Standing[],
  earlier: readonly Standing[],
  matches: Matches,
): InSlices<void> {
  const others = groupBy(earlier.toReversed(), placeName)
  yield
  for (const it of left) {
    const next = others.get(placeName(it))?.pop()
    if (next) match(it, next, matches)
  }
}

/** The common lines of a text and the one at its place: for a message, any message of the same role. */
function placeName({ text: { pointer, message } }: Standing): string {
  return message?.role === undefined ? pointer : `${message.array} ${message.role}`
}

/** Two texts that may belong together. Among several pairs, the one with the lowest rank is used. */
interface Pair {
  readonly it: Standing
  readonly earlier: Standing
  readonly rank: number
}

/** Matches the pairs with the lowest rank first, among equals the nearest, then the first. */
function matchBest(pairs: Pair[], matches: Matches): void {
  const distance = ({ it, earlier }: Pair): number => Math.abs(it.at - earlier.at)
  pairs.sort((a, b) => a.rank - b.rank || distance(a) - distance(b) || a.it.at - b.it.at)
  for (const { it, earlier } of pairs) {
    if (!matches.found.has(it.text) && !matches.taken.has(earlier.text)) match(it, earlier, matches)
  }
}
