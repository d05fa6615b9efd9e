import { invalid, Refusal } from '../../errors.ts'
import { isUnspaced, searchWords } from './search-words.ts'

/** Words that have to stand side by side, one or several. */
export interface SearchTerm {
  readonly words: readonly string[]
  /** Whether the last of them may go on. */
  readonly isPrefix: boolean
}

/** What a search asks for: every term that is wanted, and none that is not. */
export interface Search {
  readonly wanted: readonly SearchTerm[]
  readonly unwanted: readonly SearchTerm[]
}

/** A search of more words is no search that anybody typed. */
const MOST_WORDS = 100

/**
 * What a query asks for: words are joined by AND, `"…"` is a phrase, a final `*` a prefix (of two characters at least), `-word` excludes;
 * nothing else is syntax. `loc` is its place in the request. Refuses with `empty_query` one that asks for nothing, or only excludes, and
 * one of more than a hundred words.
 */
export function parseSearch(query: string, loc: readonly (string | number)[]): Search {
  const wanted: SearchTerm[] = []
  const unwanted: SearchTerm[] = []
  let words = 0
  for (const { groups = {} } of query.matchAll(TERM)) {
    const term = termOf(groups.phrase, groups.word)
    if (!term) continue
    words += term.words.length
    if (words > MOST_WORDS) throw invalid(loc, `has more than ${MOST_WORDS} words. Send fewer.`, 'too_long')
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

/** Undefined for what has no letter and no digit. */
function termOf(phrase: string | undefined, word = ''): SearchTerm | undefined {
  const text = phrase ?? word
  const words = [...searchWords(text)].map((it) => it.word)
  if (words.length === 0) return undefined
  const last = words.at(-1) ?? ''
  if (isUnspaced(text)) {
    // The last character stands by itself at the end of a text only: in the midst of one, it begins a pair.
    return words.length > 1 ? { words: words.slice(0, -1), isPrefix: false } : { words, isPrefix: true }
  }
  return { words, isPrefix: phrase === undefined && word.endsWith('*') && [...last].length >= 2 }
}

/** The query of FTS5 for a search: everything in it is a quoted string, so nothing is syntax. */
export function matchExpression({ wanted, unwanted }: Search): string {
  const all = wanted.map(phraseOf).join(' AND ')
  return unwanted.length === 0 ? all : `(${all}) NOT (${unwanted.map(phraseOf).join(' OR ')})`
}

function phraseOf({ words, isPrefix }: SearchTerm): string {
  // Words are letters, digits and marks.
  return `"${words.join(' ')}"${isPrefix ? ' *' : ''}`
}
