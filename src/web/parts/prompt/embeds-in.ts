/** Half-open, in UTF-16 units. */
export interface TextRange {
  readonly from: number
  readonly to: number
}

/** A token longer than this is none. */
const LONGEST = 1000

/** Where a text embeds something: `@svc.embed[…]` in one line, or `@{{…}}` that names something (docs/guide/snippets.md). */
export function embedsIn(text: string): readonly TextRange[] {
  const found: TextRange[] = []
  const start = /@svc\.embed\[|@\{\{/g
  for (let at = start.exec(text); at; at = start.exec(text)) {
    const from = at.index
    const to = at[0] === '@{{' ? endOfShort(text, from) : endOfLong(text, from + at[0].length)
    if (to === undefined) continue
    found.push({ from, to })
    start.lastIndex = to
  }
  return found
}

/** What an embed in short must say to be one; everything else in such braces is text. */
const NAMES_SOMETHING =
  /\b(?:workflow|application|evaluator|environment)(?:_artifact|_variant|_revision)?\s*\.\s*(?:id|slug|version)\s*[=:]/

function endOfShort(text: string, from: number): number | undefined {
  const token = text.slice(from, from + LONGEST)
  const end = token.indexOf('}}')
  return end >= 0 && NAMES_SOMETHING.test(token.slice(0, end)) ? from + end + 2 : undefined
}

/** Behind the bracket that closes the one before `at`. */
function endOfLong(text: string, at: number): number | undefined {
  let depth = 1
  for (let index = at; index < text.length && index - at < LONGEST; index++) {
    const character = text[index]
    if (character === '\n') return undefined
    if (character === '[') depth++
    if (character === ']') depth--
    if (depth === 0) return index + 1
  }
  return undefined
}
