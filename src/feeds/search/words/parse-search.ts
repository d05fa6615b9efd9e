import { invalid, Refusal } from '../../../errors.ts'
import { isUnspaced, searchWords } from './search-words.ts'

/** One or several words that must be adjacent. */
export interface SearchTerm {
  readonly words: readonly string[]
  /** Whether the last word is a prefix. */
  readonly isPrefix: boolean
}

/** A search: all wanted terms, and no unwanted one. */
export interface Search {
  readonly wanted: readonly SearchTerm[]
  readonly unwanted: readonly SearchTerm[]
}

const MAX_WORDS = 100

/**
 * Parses a query: words are joined by AND, `"…"` is a phrase, a final `*` a prefix (of at least two characters), `-word` excludes; there is
 * no other syntax. `loc` is its place in the request. Refuses a query without terms, or with only excluded ones, as `empty_query`, and one
 * with more than a hundred words.
 */
export function parseSearch(query: string, loc: readonly (string | number)[]): Search {
  const wanted: SearchTerm[] = []
  const unwanted: SearchTerm[] = []
  let words = 0
  for (const { groups = {} } of query.matchAll(TERM)) {
    const term = termOf(groups.phrase, groups.word)
    if (!term) continue
    words += term.words.length
    if (words > MAX_WORDS) throw invalid(loc, `has more than ${MAX_WORDS} words. Send fewer.`, 'too_long')
    if (groups.minus) unwanted.push(term)
    else wanted.push(term)
  }
  if (wanted.length > 0) return { wanted, unwanted }
  throw new Refusal(
    'empty_query',
    `${loc.join('.')} has no word to look for. Send one or more words; "-word" only leaves out.`,
  )
}

const TERM = /(?<minus>-)?(?:"(?<phrase>[^"]*)"?|(?<word>[^\s"]+))/gu

/** Undefined for a text without letters and digits. */
function termOf(phrase: string | undefined, word = ''): SearchTerm | undefined {
  const text = phrase ?? word
  const words = [...searchWords(text)].map((it) => it.word)
  if (words.length === 0) return undefined
  const last = words.at(-1) ?? ''
  if (isUnspaced(text)) {
    // At the end of a text the last character is indexed alone; elsewhere it begins a pair.
    return words.length > 1 ? { words: words.slice(0, -1), isPrefix: false } : { words, isPrefix: true }
  }
  return { words, isPrefix: phrase === undefined && word.endsWith('*') && [...last].length >= 2 }
}

/** The search as a query of FTS5. Everything is quoted, so nothing is taken for syntax. */
export function matchExpression({ wanted, unwanted }: Search): string {
  const all = wanted.map(phraseOf).join(' AND ')
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.map(phraseOf).join(' OR ')})`
}

function phraseOf({ words, isPrefix }: SearchTerm): string {
  // Words consist of letters, digits and marks.
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`
}
