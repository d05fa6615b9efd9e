import type { Search, SearchTerm } from './parse-search.ts'
import { searchWords } from './search-words.ts'

/** What stands between two texts of one document, so that no phrase goes on from one into the other. No query has it. */
const BREAK = ' \ue000 '

/** Texts as the index takes them: their words, as they are compared. */
export function indexedText(texts: readonly string[]): string {
  return texts.map((text) => [...searchWords(text)].map(({ word }) => word).join(' ')).join(BREAK)
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
