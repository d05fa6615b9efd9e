/** A place of a curly template that is not text: half-open, in UTF-16 units. */
export interface CurlyTag {
  /** What is between the braces, trimmed; undefined for an escape, which writes `text` and no more. */
  readonly name: string | undefined
  /** What it writes before the value of the name: the backslashes that are meant, and the braces of an escape. */
  readonly text: string
  readonly from: number
  readonly to: number
}

/**
 * The variables and escapes of a curly template, in their order (the page marks variables by it, too). A variable is `{{name}}`; a name
 * holds no `{`, `}`, `"` and no line feed, so `{{{q}}}` is a brace around `{{q}}`, and JSON in braces is text. Of the backslashes before
 * braces each two are one; one that is left makes `{{` text. Backslashes elsewhere, and before braces that begin no variable, are text.
 * Takes time that grows with the text only.
 */
export function* curlyTags(template: string): Generator<CurlyTag> {
  let done = 0
  for (let open = template.indexOf('{{'); open !== -1;) {
    let first = open
    while (first > done && template.charAt(first - 1) === '\\') first--
    const backslashes = open - first
    const text = '\\'.repeat(backslashes >> 1)
    const name = backslashes % 2 === 1 ? undefined : nameAt(template, open)
    if (backslashes % 2 === 1) {
      done = open + 2
      yield { name: undefined, text: `${text}{{`, from: first, to: done }
    } else if (name !== undefined) {
      done = open + 4 + name.length
      yield { name: name.trim(), text, from: first, to: done }
    }
    open = template.indexOf('{{', name === undefined && backslashes % 2 === 0 ? open + 1 : done)
  }
}

const NAME = /([^{}"]*)\}\}/y

function nameAt(template: string, open: number): string | undefined {
  NAME.lastIndex = open + 2
  const name = NAME.exec(template)?.[1]
  return name?.trim().includes('\n') ? undefined : name
}
