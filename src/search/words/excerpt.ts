import type { Search, SearchTerm } from './parse-search.ts'
import { type Word, isUnspaced, searchWords } from './search-words.ts'

/** A piece of a text on one line, and where it has what was looked for. */
export interface Excerpt {
  readonly excerpt: string
  /** Offsets in the excerpt, in UTF-16 units, half-open. */
  readonly ranges: readonly TextRange[]
}

/** An excerpt of one text of several. */
export interface BestExcerpt extends Excerpt {
  /** Which text it is of. */
  readonly at: number
}

/** So many units of all texts of a hit are looked through: what stands behind is shown without marks. */
const MOST_LOOKED_AT = 200_000
/** Mostly, all that is looked for stands in so many units behind the first of it. */
const AT_FIRST = 5_000

/**
 * A piece of the text that has the most of what is looked for; of the first that could not be looked through, without marks, where none before
 * that has any of it. Undefined if none has any of it.
 */
export function bestExcerpt(texts: readonly string[], search: Search): BestExcerpt | undefined {
  let left = MOST_LOOKED_AT
  let best: { readonly at: number; readonly terms: number; readonly ranges: readonly TextRange[] } | undefined
  let cut: number | undefined
  for (const [at, text] of texts.entries()) {
    const few = findTerms(text, search, Math.min(left, AT_FIRST))
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

/** So many units of the text before the first place that was found, and all in all. */
const BEFORE = 40
const LENGTH = 160

/** A piece of the text around the first of `ranges`, which are in order; from its beginning if there are none. */
export function excerptOf(text: string, ranges: readonly TextRange[]): Excerpt {
  const [first = 0] = ranges[0] ?? []
  const start = first <= BEFORE ? 0 : wordStart(text, first - BEFORE, first)
  const end = text.length - start <= LENGTH ? text.length : wordEnd(text, start + LENGTH, start)
  const before = start > 0 ? '… ' : ''
  const shift = before.length - start
  return {
    // A blank for a blank: the places stay where they are.
    excerpt: `${before}${text.slice(start, end).replace(/\s/g, ' ')}${end < text.length ? ' …' : ''}`,
    ranges: ranges
      .filter(([from]) => from < end)
      .map(([from, to]) => [from + shift, Math.min(to, end) + shift] as const),
  }
}

/** The place behind the next blank; `from` where there is none before `limit`, moved off the middle of a surrogate pair. */
function wordStart(text: string, from: number, limit: number): number {
  const blank = /\s/.exec(text.slice(from, limit))
  return blank ? from + blank.index + 1 : offPair(text, from)
}

function wordEnd(text: string, to: number, limit: number): number {
  const blank = text.slice(limit, to).search(/\s\S*$/)
  return blank > LENGTH / 2 ? limit + blank : offPair(text, to)
}

function offPair(text: string, at: number): number {
  return /^[\udc00-\udfff]/.test(text.slice(at, at + 1)) ? at + 1 : at
}

/** A part of a text: from unit `0` up to `1`, which is not part of it. */
type TextRange = readonly [start: number, end: number]

/** Where a text has what a search wants. */
interface FoundTerms {
  /** How many of the wanted terms it has. */
  readonly terms: number
  /** In order, none overlapping another. */
  readonly ranges: readonly TextRange[]
  /** So many units of the text were looked through … */
  readonly looked: number
  /** … and whether that is less than all that may have something. */
  readonly isCut: boolean
}

/** Looks for the wanted terms of a search in a text, through so many units of it at most, from the first place on that may have one. */
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

/** A text of ASCII has its words as they are compared but for their case, so where the first of them is can be told at once. */
const ASCII = /^[\0-\x7f]*$/

/** Where the first word begins that some term may begin with, or a place before that; undefined if there is none. */
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
    // One character of a script without spaces begins a pair, and is not all of it.
    const isPart = isPrefix && isUnspaced(asked[last] ?? '')
    found.push([begin.start, isPart ? word.start + (asked[last]?.length ?? 0) : word.end])
  }
  return found
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
