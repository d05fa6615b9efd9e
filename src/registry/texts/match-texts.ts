import { groupBy } from '../../base/json.ts'
import type { InSlices } from '../../base/scheduling.ts'
import type { PlacedText } from './placed-text.ts'

/** Texts of more lines than this, on both sides together, are not compared by lines … */
const MAX_LINES = 100_000
/** … nor are more pairs of texts. */
const MAX_PAIRS = 65_536
/** Pairs of equal texts that are sorted by distance, in all groups of equal texts together. */
const MAX_SAME_PAIRS = 262_144

/**
 * Which text of `before` each text goes on from (interface 7.16), at most one, and none twice: first the one that says the same, at its own place
 * or else nearest; then the one with most lines in common, at least half of the longer; then the one of its place, for messages of its role
 * in order. Beyond one pass over the texts, the work has a bound.
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
  // Of one that is left on each side, at one place, every rule says the same, or nothing.
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
  /** Those of `before` that a text goes on from. */
  readonly taken: Set<PlacedText>
}

function match({ text }: Standing, { text: earlier }: Standing, { found, taken }: Matches): void {
  found.set(text, earlier)
  taken.add(earlier)
}

/** A text, and where it stands among those of its side. */
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

/** The lines of a text, each behind how often it has come by then: what two texts have in common is then the same in both. */
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

/** What a text and the one of its place have in common: of messages any of the role may be it. */
function placeName({ text: { pointer, message } }: Standing): string {
  return message?.role === undefined ? pointer : `${message.array} ${message.role}`
}

/** Two texts that may belong together; of several pairs the one with the lowest rank does. */
interface Pair {
  readonly it: Standing
  readonly earlier: Standing
  readonly rank: number
}

/** Matches the pairs of the lowest rank first, of equals the nearest, then the first. */
function matchBest(pairs: Pair[], matches: Matches): void {
  const distance = ({ it, earlier }: Pair): number => Math.abs(it.at - earlier.at)
  pairs.sort((a, b) => a.rank - b.rank || distance(a) - distance(b) || a.it.at - b.it.at)
  for (const { it, earlier } of pairs) {
    if (!matches.found.has(it.text) && !matches.taken.has(earlier.text)) match(it, earlier, matches)
  }
}
