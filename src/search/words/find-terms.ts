import type { Search, SearchTerm } from './parse-search.ts'
import type { Word } from './search-words.ts'
import { isUnspaced, searchWords } from './search-words.ts'

/** A part of a text: from unit `0` up to `1`, which is not part of it. */
export type TextRange = readonly [start: number, end: number]

/** Where a text has what a search wants. */
export interface FoundTerms {
  /** How many of the wanted terms it has. */
  readonly terms: number
  /** In order, none overlapping another. */
  readonly ranges: readonly TextRange[]
}

/** Past so many units a text is not looked through: what it is found for stands before that, or is shown without a mark. */
const MOST_LOOKED_AT = 200_000

/** Looks for the wanted terms of a search in a text. */
export function findTerms(text: string, { wanted }: Search): FoundTerms {
  const words = [...searchWords(text.length > MOST_LOOKED_AT ? text.slice(0, MOST_LOOKED_AT) : text)]
  const found = wanted.map((term) => placesOf(words, term))
  const ranges = found.flat().sort(([a], [b]) => a - b)
  return { terms: found.filter((places) => places.length > 0).length, ranges: joined(ranges) }
}

function placesOf(words: readonly Word[], { words: asked, isPrefix }: SearchTerm): TextRange[] {
  const places: TextRange[] = []
  const last = asked.length - 1
  const isThere = (at: number): boolean =>
    asked.every((word, offset) => {
      const there = words[at + offset]?.word
      return offset === last && isPrefix ? there?.startsWith(word) : there === word
    })
  for (const [at, { start }] of words.entries()) {
    const word = words[at + last]
    if (!word || !isThere(at)) continue
    // One character of a script without spaces begins a pair, and is not all of it.
    const isPart = isPrefix && isUnspaced(asked[last] ?? '')
    places.push([start, isPart ? word.start + (asked[last]?.length ?? 0) : word.end])
  }
  return places
}

/** Ranges that touch or overlap become one. */
function joined(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = []
  for (const [start, end] of ranges) {
    const before = result.at(-1)
    if (before && start <= before[1]) result[result.length - 1] = [before[0], Math.max(before[1], end)]
    else result.push([start, end])
  }
  return result
}
