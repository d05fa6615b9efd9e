import { diffArrays } from 'diff'

/** So much two lists may differ for the shortest way from one to the other to be searched: the search takes the square of it. */
const MOST_EDITS = 600

/** Two places that hold the same: of the base and of the head. */
export type Match = readonly [base: number, head: number]

/**
 * Which elements of two lists stay, in their order. What stands in one list only is left out of the search first, so that a list of which
 * everything changed costs no more than one of which nothing did.
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
    { maxEditLength: MOST_EDITS },
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

/** What stands once in both lists and keeps its order: what is left to go by where too much was moved around. */
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

/** The places of the longest run of rising numbers, in their order; what is undefined is passed over. */
export function longestRising(numbers: readonly (number | undefined)[]): readonly number[] {
  /** tails[n]: the place at which the run of length n + 1 with the lowest end ends. */
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

/** Places of the list, without what both begin and end with, whose elements the other one has somewhere, too. */
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

/** More pairs than this are not weighed against each other. */
const MOST_PAIRS = 1200

/**
 * Pairs elements of two short lists in their order, so that those that are most alike stand beside each other; of long lists, the first
 * with the first and so on.
 */
export function pairInOrder(base: readonly string[], head: readonly string[]): readonly Match[] {
  if (base.length === head.length || base.length * head.length > MOST_PAIRS) {
    return Array.from({ length: Math.min(base.length, head.length) }, (_, at): Match => [at, at])
  }
  const words = [base.map(wordsOf), head.map(wordsOf)] as const
  // best[i][j]: how alike the pairs of base from i and head from j are together, at best.
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

/** The words of a text with how often each is there; of a long one, of its beginning. */
export function wordsOf(text: string): ReadonlyMap<string, number> {
  const words = new Map<string, number>()
  for (const word of text.slice(0, 20_000).match(/[\p{L}\p{N}_]+/gu) ?? [])
    words.set(word, (words.get(word) ?? 0) + 1)
  return words
}

/** How alike two texts are by their words: from 0 to 1. */
export function likeness(left: ReadonlyMap<string, number>, right: ReadonlyMap<string, number>): number {
  let [common, all] = [0, 0]
  for (const [word, count] of left) {
    common += Math.min(count, right.get(word) ?? 0)
    all += count
  }
  for (const count of right.values()) all += count
  return all === 0 ? 0 : (2 * common) / all
}
