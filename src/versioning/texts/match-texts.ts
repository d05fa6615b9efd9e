import type { PlacedText } from './placed-text.ts'

/** More lines than so many, on both sides together, are not compared … */
const MOST_LINES = 100_000
/** … nor more pairs of texts. */
const MOST_PAIRS = 65_536

/**
 * Which text of `before` each text goes on from (design 1a), at most one, and none twice: first the one that says the same, at its own place
 * or else nearest; then the one with most lines in common, at least half of the longer; then the one of its place, for messages of its role
 * in order.
 */
export function matchTexts<T extends PlacedText, B extends PlacedText>(
  texts: readonly T[],
  before: readonly B[],
): ReadonlyMap<T, B> {
  const matching = new Matching(texts, before)
  matching.bySameText()
  matching.byLines()
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

  constructor(texts: readonly T[], before: readonly B[]) {
    this.#texts = texts
    this.#before = before
  }

  bySameText(): void {
    const byPointer = new Map(this.#before.map((it) => [it.pointer, it]))
    for (const text of this.#texts) {
      const own = byPointer.get(text.pointer)
      if (own?.text === text.text) this.#match(text, own)
    }
    const same = groupBy(this.#earlierLeft(), ([{ text }]) => text)
    for (const [text, group] of groupBy(this.#left(), ([it]) => it.text)) {
      const earlier = same.get(text) ?? []
      if (group.length * earlier.length <= MOST_PAIRS) this.#matchBest(pairs(group, earlier, () => 0))
      else for (const [at, [it]] of earlier.entries()) if (group[at]) this.#match(group[at][0], it)
    }
  }

  byLines(): void {
    const [left, earlier] = [this.#left(), this.#earlierLeft()]
    if (left.length * earlier.length > MOST_PAIRS) return
    const lines = new Map([...left, ...earlier].map(([it]) => [it.text, linesOf(it.text)]))
    if ([...lines.values()].reduce((sum, { count }) => sum + count, 0) > MOST_LINES) return
    const rankOf = (one: T, other: B): number | undefined => {
      const share = shareOf(lines.get(one.text), lines.get(other.text))
      return share < 0.5 ? undefined : -share
    }
    this.#matchBest(pairs(left, earlier, rankOf))
  }

  byPlace(): void {
    const earlier = groupBy(this.#earlierLeft(), ([it]) => placeName(it))
    for (const [text] of this.#left()) {
      const next = earlier.get(placeName(text))?.shift()
      if (next) this.#match(text, next[0])
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

function pairs<T, B>(
  texts: readonly Standing<T>[],
  earlier: readonly Standing<B>[],
  rankOf: (text: T, earlier: B) => number | undefined,
): Pair<T, B>[] {
  return texts.flatMap((text) =>
    earlier.flatMap((it) => {
      const rank = rankOf(text[0], it[0])
      return rank === undefined ? [] : [{ text, earlier: it, rank }]
    }),
  )
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

/** How often a text has each of its lines. */
interface Lines {
  readonly count: number
  readonly times: ReadonlyMap<string, number>
}

function linesOf(text: string): Lines {
  const lines = text.split('\n')
  const times = new Map<string, number>()
  for (const line of lines) times.set(line, (times.get(line) ?? 0) + 1)
  return { count: lines.length, times }
}

/** How much of the longer text is in the other one, too, by lines: 1 is all of it. */
function shareOf(one: Lines | undefined, other: Lines | undefined): number {
  if (!one || !other) return 0
  const longer = Math.max(one.count, other.count)
  if (2 * Math.min(one.count, other.count) < longer) return 0
  let common = 0
  for (const [line, times] of one.times) common += Math.min(times, other.times.get(line) ?? 0)
  return common / longer
}
