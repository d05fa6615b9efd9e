/** A variable or an escape in a curly template; the range is half-open, in UTF-16 units. */
export interface CurlyTag {
  /** The trimmed text between the braces; undefined for an escape, which only produces `text`. */
  readonly name: string | undefined
  /** The text before the value: backslashes that stay, or the braces of an escape. */
  readonly text: string
  readonly from: number
  readonly to: number
}

/**
 * The variables and escapes of a curly template, in order (the page also marks variables with it). A variable is `{{name}}`. A name
 * contains no `{`, `}`, `"` and no line feed, so `{{{q}}}` is a brace around `{{q}}`, and JSON in braces is text. Before the braces of a
 * variable, two backslashes mean one, and a single one left makes `{{` text. All other backslashes are text. Takes linear time.
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
