import type { InSlices } from '../../scheduling/cooperative.ts'
import { Pace } from '../../scheduling/cooperative.ts'
import type { PlacedText } from './placed-text.ts'

/** Texts of more lines than so many, on both sides together, are not compared by lines … */
const MOST_LINES = 100_000
/** … nor more pairs of texts. */
const MOST_PAIRS = 65_536
/** Of texts that say the same, so many pairs are looked at for the nearest ones, in all groups together. */
const MOST_SAME_PAIRS = 262_144

/**
 * Which text of `before` each text goes on from (interface 7.16), at most one, and none twice: first the one that says the same, at its own place
 * or else nearest; then the one with most lines in common, at least half of the longer; then the one of its place, for messages of its role
 * in order. Beyond one pass over the texts, the work has a bound.
 */
export function* matchTexts<T extends PlacedText, B extends PlacedText>(
  texts: readonly T[],
  before: readonly B[],
): InSlices<ReadonlyMap<T, B>> {
  const matching = new Matching(texts, before)
  yield* matching.bySameText()
  yield* matching.byLines()
  matching.byPlace()
  return matching.found
}

/** A text, and where it stands among those of its side. */
type Standing<T> = readonly [text: T, at: number]

/** Two that may belong together; of several pairs the one with the lowest rank does. */
interface Pair<T, B> {
  readonly text: Standing<T>
  readonly earlier: Standing<B>
  readonly rank: number
}

class Matching<T extends PlacedText, B extends PlacedText> {
  readonly found = new Map<T, B>()
  readonly #texts: readonly T[]
  readonly #before: readonly B[]
  readonly #taken = new Set<B>()
  readonly #pace = new Pace()

  constructor(texts: readonly T[], before: readonly B[]) {
    this.#texts = texts
    this.#before = before
  }

  *bySameText(): InSlices<void> {
    const byPointer = new Map(this.#before.map((it) => [it.pointer, it]))
    yield
    for (const text of this.#texts) {
      const own = byPointer.get(text.pointer)
      if (own?.text === text.text) this.#match(text, own)
      if (this.#pace.isDue) yield
    }
    let pairsLeft = MOST_SAME_PAIRS
    const same = groupBy(this.#earlierLeft(), ([{ text }]) => text)
    yield
    const groups = groupBy(this.#left(), ([it]) => it.text)
    yield
    for (const [text, group] of groups) {
      const earlier = same.get(text) ?? []
      const pairs = group.length * earlier.length
      pairsLeft -= pairs <= MOST_PAIRS ? pairs : 0
      if (pairs <= MOST_PAIRS && pairsLeft >= 0) this.#matchBest(allPairs(group, earlier))
      else for (const [at, [it]] of earlier.entries()) if (group[at]) this.#match(group[at][0], it)
      if (pairs > 1000 || this.#pace.isDue) yield
    }
  }

  *byLines(): InSlices<void> {
    const [left, earlier] = [this.#left(), this.#earlierLeft()]
    if (left.length * earlier.length > MOST_PAIRS) return
    let count = 0
    for (const [{ text }] of [...left, ...earlier]) {
      count += countOfLines(text)
      if (count > MOST_LINES) return
      if (this.#pace.isDue) yield
    }
    const lines = new CommonLines(earlier.map(([{ text }]) => text))
    yield
    const found: Pair<T, B>[] = []
    for (const text of left) {
      for (const [at, share] of lines.sharesWith(text[0].text).entries()) {
        const one = earlier[at]
        if (one && share >= 0.5) found.push({ text, earlier: one, rank: -share })
      }
      yield
    }
    this.#matchBest(found)
    yield
  }

  byPlace(): void {
    const earlier = groupBy(this.#earlierLeft(), ([it]) => placeName(it))
    const next = new Map<string, number>()
    for (const [text] of this.#left()) {
      const name = placeName(text)
      const at = next.get(name) ?? 0
      const one = earlier.get(name)?.[at]
      if (one) this.#match(text, one[0])
      next.set(name, at + 1)
    }
  }

  /** Those that go on from none yet. */
  #left(): Standing<T>[] {
    return [...this.#texts.entries()].flatMap(([at, it]) => (this.found.has(it) ? [] : [[it, at]]))
  }

  #earlierLeft(): Standing<B>[] {
    return [...this.#before.entries()].flatMap(([at, it]) => (this.#taken.has(it) ? [] : [[it, at]]))
  }

  /** The pairs of the lowest rank first, of equals the nearest, then the first. */
  #matchBest(among: Pair<T, B>[]): void {
    const distance = ({ text, earlier }: Pair<T, B>): number => Math.abs(text[1] - earlier[1])
    among.sort((a, b) => a.rank - b.rank || distance(a) - distance(b) || a.text[1] - b.text[1])
    for (const { text, earlier } of among) {
      if (!this.found.has(text[0]) && !this.#taken.has(earlier[0])) this.#match(text[0], earlier[0])
    }
  }

  #match(text: T, earlier: B): void {
    this.found.set(text, earlier)
    this.#taken.add(earlier)
  }
}

function allPairs<T, B>(texts: readonly Standing<T>[], earlier: readonly Standing<B>[]): Pair<T, B>[] {
  return texts.flatMap((text) => earlier.map((it) => ({ text, earlier: it, rank: 0 })))
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}

/** What a text and the one of its place have in common: of messages any of the role may be it. */
function placeName({ pointer, message }: PlacedText): string {
  return message?.role === undefined ? pointer : `${message.array} ${message.role}`
}

/** How much other texts have in common with each of some texts, by lines. */
class CommonLines {
  readonly #lengths: readonly number[]
  /** By line, the texts that have it, and how often each does, one after the other. */
  readonly #holders = new Map<string, number[]>()

  constructor(texts: readonly string[]) {
    this.#lengths = texts.map(countOfLines)
    for (const [at, text] of texts.entries()) {
      for (const [line, times] of timesOfLines(text)) {
        const holders = this.#holders.get(line)
        if (holders) holders.push(at, times)
        else this.#holders.set(line, [at, times])
      }
    }
  }

  /** For each of the texts, how much of the longer one is in the other, too: 1 is all of it. */
  sharesWith(text: string): Float64Array {
    const common = new Float64Array(this.#lengths.length)
    for (const [line, times] of timesOfLines(text)) {
      const holders = this.#holders.get(line) ?? []
      for (let at = 0; at < holders.length; at += 2) {
        const holder = holders[at] ?? 0
        common[holder] = (common[holder] ?? 0) + Math.min(times, holders[at + 1] ?? 0)
      }
    }
    const length = countOfLines(text)
    return common.map((lines, at) => lines / Math.max(length, this.#lengths[at] ?? 0))
  }
}

function countOfLines(text: string): number {
  let count = 1
  for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', feed + 1)) count++
  return count
}

function timesOfLines(text: string): ReadonlyMap<string, number> {
  const times = new Map<string, number>()
  for (const line of text.split('\n')) times.set(line, (times.get(line) ?? 0) + 1)
  return times
}
