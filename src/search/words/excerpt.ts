import type { TextRange } from './find-terms.ts'
import { findTerms } from './find-terms.ts'
import type { Search } from './parse-search.ts'

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
