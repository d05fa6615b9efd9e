import type { Search, SearchTerm } from './parse-search.ts'
import { type Word, isUnspaced, searchWords } from './search-words.ts'

/** An excerpt of a text, on one line, and the matches in it. */
export interface Excerpt {
  readonly excerpt: string
  /** Offsets in the excerpt, in UTF-16 units, half-open. */
  readonly ranges: readonly TextRange[]
}

/** An excerpt of one of several texts. */
export interface BestExcerpt extends Excerpt {
  /** The index of the text. */
  readonly at: number
}

/** At most this many units of a hit's texts are searched; later matches are not marked. */
const MAX_UNITS_SEARCHED = 200_000
/** All terms are usually found within this many units after the first. */
const UNITS_SEARCHED_FIRST = 5_000

/**
 * An excerpt of the text with most of the search terms. If none was found, an unmarked excerpt of the first text that was not fully searched.
 * Undefined if no text has a term.
 */
export function bestExcerpt(texts: readonly string[], search: Search): BestExcerpt | undefined {
  let left = MAX_UNITS_SEARCHED
  let best: { readonly at: number; readonly terms: number; readonly ranges: readonly TextRange[] } | undefined
  let cut: number | undefined
  for (const [at, text] of texts.entries()) {
    const few = findTerms(text, search, Math.min(left, UNITS_SEARCHED_FIRST))
    const isEnough = !few.isCut || few.terms === search.wanted.length
    const { terms, ranges, looked, isCut } = isEnough ? few : findTerms(text, search, left)
    left -= looked
    if (terms > (best?.terms ?? 0)) best = { at, terms, ranges }
    if (terms === search.wanted.length) break
    if (isCut) cut ??= at
  }
  const { at, ranges } = best ?? { at: cut, ranges: [] }
  return at === undefined ? undefined : { at, ...excerptOf(texts[at] ?? '', ranges) }
}

/** The units of an excerpt before the first match, and in total. */
const UNITS_BEFORE_MATCH = 40
const UNITS_PER_EXCERPT = 160

/** An excerpt around the first of `ranges`, which are sorted; without ranges, from the start. */
export function excerptOf(text: string, ranges: readonly TextRange[]): Excerpt {
  const [first = 0] = ranges[0] ?? []
  const start = first <= UNITS_BEFORE_MATCH ? 0 : wordStart(text, first - UNITS_BEFORE_MATCH, first)
  const end =
    text.length - start <= UNITS_PER_EXCERPT ? text.length : wordEnd(text, start + UNITS_PER_EXCERPT, start)
  const before = start > 0 ? '… ' : ''
  const shift = before.length - start
  return {
    // Each white space becomes one blank, so that offsets stay valid.
    excerpt: `${before}${text.slice(start, end).replace(/\s/g, ' ')}${end < text.length ? ' …' : ''}`,
    ranges: ranges
      .filter(([from]) => from < end)
      .map(([from, to]) => [from + shift, Math.min(to, end) + shift] as const),
  }
}

/** The position after the next blank; without one before `limit`, `from`, moved out of a surrogate pair. */
function wordStart(text: string, from: number, limit: number): number {
  const blank = /\s/.exec(text.slice(from, limit))
  return blank ? from + blank.index + 1 : offPair(text, from)
}

function wordEnd(text: string, to: number, limit: number): number {
  const blank = text.slice(limit, to).search(/\s\S*$/)
  return blank > UNITS_PER_EXCERPT / 2 ? limit + blank : offPair(text, to)
}

function offPair(text: string, at: number): number {
  return /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) ? at + 1 : at
}

/** A range of a text, without the unit at `end`. */
type TextRange = readonly [start: number, end: number]

/** The matches of a search in a text. */
interface FoundTerms {
  /** How many of the search terms were found. */
  readonly terms: number
  /** Sorted, without overlaps. */
  readonly ranges: readonly TextRange[]
  /** How many units were searched. */
  readonly looked: number
  /** Whether the rest of the text was not searched. */
  readonly isCut: boolean
}

/** Finds the search terms in a text, in at most `most` units from the first possible match. */
export function findTerms(text: string, { wanted }: Search, most = Infinity): FoundTerms {
  const start = firstCandidate(text, wanted)
  if (start === undefined) return { terms: 0, ranges: [], looked: 0, isCut: false }
  const part = text.slice(start, start + most)
  const words = [...searchWords(part)]
  const places = new Map<string, number[]>()
  for (const [at, { word }] of words.entries()) {
    const known = places.get(word)
    if (known) known.push(at)
    else places.set(word, [at])
  }
  const found = wanted.map((term) => placesOf(words, places, term))
  const ranges = found.flat().sort(([a], [b]) => a - b)
  return {
    terms: found.filter((some) => some.length > 0).length,
    ranges: joined(ranges).map(([from, to]) => [from + start, to + start] as const),
    looked: part.length,
    isCut: start + part.length < text.length,
  }
}

/** In ASCII texts, words differ from their indexed form only in case, so the first match can be found quickly. */
const ASCII = /^[\0-\x7f]*$/

/** The start of the first possible match, or an earlier position; undefined if there is none. */
function firstCandidate(text: string, wanted: readonly SearchTerm[]): number | undefined {
  if (!ASCII.test(text)) return 0
  const lower = text.toLowerCase()
  let start = Infinity
  for (const {
    words: [first = ''],
  } of wanted) {
    const at = lower.indexOf(first)
    if (at >= 0) start = Math.min(start, at)
  }
  if (start === Infinity) return undefined
  while (start > 0 && /[a-z0-9]/.test(lower[start - 1] ?? '')) start--
  return start
}

function placesOf(
  words: readonly Word[],
  places: ReadonlyMap<string, readonly number[]>,
  { words: asked, isPrefix }: SearchTerm,
): TextRange[] {
  const last = asked.length - 1
  const [first = ''] = asked
  const starts =
    isPrefix && last === 0
      ? [...places].flatMap(([word, at]) => (word.startsWith(first) ? at : []))
      : (places.get(first) ?? [])
  const isThere = (at: number): boolean =>
    asked.every((word, offset) => {
      const there = words[at + offset]?.word
      return offset === last && isPrefix ? there?.startsWith(word) : there === word
    })
  const found: TextRange[] = []
  for (const at of starts) {
    const [begin, word] = [words[at], words[at + last]]
    if (!begin || !word || !isThere(at)) continue
    // In a script without spaces, a single character matches the first of an indexed pair.
    const isPart = isPrefix && isUnspaced(asked[last] ?? '')
    found.push([begin.start, isPart ? word.start + (asked[last]?.length ?? 0) : word.end])
  }
  return found
}

/** Joins ranges that touch or overlap. */
function joined(ranges: readonly TextRange[]): TextRange[] {
  const result: TextRange[] = []
  for (const [start, end] of ranges) {
    const before = result.at(-1)
    if (before && start <= before[1]) result[result.length - 1] = [before[0], Math.max(before[1], end)]
    else result.push([start, end])
  }
  return result
}
